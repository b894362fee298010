import { describe, expect, test } from 'vitest';
import { seededRandom } from '@sallyport/core/testing';
import { finalStates } from '@sallyport/bridge/storage';
import type { FollowerItem } from '@sallyport/bridge/server';
import { openHarness, owner, sessionRequest, type Harness } from './harness.ts';
import type { TestSocket } from './socket.ts';
import { handshake, prompt, runningSession, settled } from './running-session.ts';

const day = 24 * 3600 * 1000;
const other = { ...owner, organizationId: 'other', accountId: 'bob' };

const message = (id: string, size = 10) => ({
  id,
  type: 'session.message',
  data: { text: 'x'.repeat(size) },
});
const output = (id: string, size = 10) => ({ id, type: 'session.output', data: { text: 'x'.repeat(size) } });

const quotaError = (quota: string) => ({ code: 'quota_exceeded', status: 403, details: { quota } });

describe('a quota of live sessions', () => {
  test('refuses one more, and takes one again when one has ended', async () => {
    const harness = openHarness({ maxLiveSessions: 2 });
    const env = await harness.register();
    const first = await harness.session(env);
    await harness.session(env);
    await expect(harness.session(env)).rejects.toMatchObject(quotaError('live_sessions'));
    await harness.engine.bridge.stop(owner, {
      environmentId: env,
      workId: first.workId,
      force: true,
      proof: null,
    });
    await harness.session(env);
    await expect(harness.session(env)).rejects.toMatchObject(quotaError('live_sessions'));
  });

  test('gives an answer that got lost again, and is each organization its own', async () => {
    const harness = openHarness({ maxLiveSessions: 1 });
    const env = await harness.register();
    const create = () =>
      harness.engine.sessions.create(owner, sessionRequest(env), { idempotencyKey: 'once' });
    expect((await create()).id).toBe((await create()).id);
    const theirs = await harness.register(other);
    await harness.engine.sessions.create(other, sessionRequest(theirs));
    await expect(harness.engine.sessions.create(other, sessionRequest(theirs))).rejects.toMatchObject({
      ...quotaError('live_sessions'),
      message: expect.stringContaining('has 1 session that has not ended') as string,
    });
  });

  test("counts by the states that the store's index knows", () => {
    expect([...finalStates].sort()).toEqual(['dead', 'done', 'failed', 'stopped']);
  });
});

test('a quota of log bytes refuses sessions and what people send, not what a worker reports', async () => {
  const run = await runningSession({ maxLogBytes: 200 });
  const { socket } = await handshake(run, run.id);
  socket.say(output('large', 300));
  await settled();
  expect(socket.frames.findLast(({ type }) => type === 'ack')).toMatchObject({ id: 'large' });
  await expect(run.session(run.env)).rejects.toMatchObject(quotaError('log_bytes'));
  await expect(run.engine.sessions.append(owner, run.id, [message('one')])).rejects.toMatchObject(
    quotaError('log_bytes'),
  );
  socket.say(output('next'));
  await settled();
  expect(socket.frames.findLast(({ type }) => type === 'ack')).toMatchObject({ id: 'next' });
  await run.engine.sessions.delete(owner, run.id);
  await run.session(run.env);
});

describe('a session whose log is too large', () => {
  test('loses its oldest events; who reads there is told', async () => {
    const run = await runningSession({ maxSessionLogBytes: 1000 });
    const { socket } = await handshake(run, run.id);
    await takesAll(run, socket);
    for (let at = 0; at < 30; at += 1) socket.say(output(`event-${at}`, 100));
    await settled();
    const events = await run.events(run.id);
    expect(sizeOf(events)).toBeLessThanOrEqual(1000);
    expect(sizeOf(events)).toBeGreaterThan(700);
    expect(events.at(-1)?.id).toBe('event-29');
    const seqs = events.map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, at) => seqs[0]! + at));
    const [first] = await followed(run, run.id, 1);
    expect(first).toEqual({
      kind: 'notice',
      type: 'resync_required',
      data: { oldest_seq: seqs[0] },
    });
    expectUsage(run);
  });

  test('keeps what its worker has yet to take, and all behind it', async () => {
    const run = await runningSession({ maxSessionLogBytes: 1000 });
    const { socket } = await handshake(run, run.id);
    for (let at = 0; at < 30; at += 1) socket.say(output(`event-${at}`, 100));
    await settled();
    expect((await run.events(run.id))[0]).toMatchObject({ id: prompt.id, seq: 1 });
  });

  test('takes no more from people while all of it waits for the worker', async () => {
    const run = await runningSession({ maxSessionLogBytes: 1000 });
    const { socket } = await handshake(run, run.id);
    const append = (at: number) => run.engine.sessions.append(owner, run.id, [message(`m${at}`, 200)]);
    for (let at = 0; at < 5; at += 1) await append(at);
    await expect(append(5)).rejects.toMatchObject(quotaError('session_log_bytes'));
    expect((await run.events(run.id))[0]).toMatchObject({ id: prompt.id });
    await settled();
    await takesAll(run, socket);
    await append(5);
    expect(sizeOf(await run.events(run.id))).toBeLessThanOrEqual(1000 + 220);
    expectUsage(run);
  });

  test('ends the session of a worker that reports and reports, and takes nothing', async () => {
    const run = await runningSession({ maxSessionLogBytes: 1000 });
    const { socket } = await handshake(run, run.id);
    const mib = 1024 * 1024;
    for (let at = 0; at < 16; at += 1) {
      socket.say(output(`event-${at}`, mib));
      await settled();
    }
    expect(socket.closed).toBeUndefined();
    socket.say(output('one too many', mib));
    await settled();
    expect(socket.closed).toMatchObject({ code: 4403, reason: 'log_full' });
    expect(socket.frames.at(-1)).toMatchObject({
      type: 'error',
      error: 'session_ended',
      error_description: expect.stringContaining('has not acknowledged') as string,
    });
    expect(await run.engine.sessions.get(owner, run.id)).toMatchObject({ status: 'failed' });
    const events = await run.events(run.id);
    expect(events.at(-1)).toMatchObject({ data: { status: 'failed', reason: 'log_full' } });
    expect(sizeOf(events)).toBeLessThanOrEqual(1000);
    expectUsage(run);
  });

  test('lets the end of a session in, whatever its size', async () => {
    const run = await runningSession({ maxSessionLogBytes: 1000 });
    const { socket } = await handshake(run, run.id);
    for (let at = 0; at < 16; at += 1) socket.say(output(`event-${at}`, 1024 * 1024));
    await settled();
    const padding = 'x'.repeat(1024 * 1024);
    socket.say({ id: 'end', type: 'worker.exited', data: { exit_code: 0, signal: null, padding } });
    await settled();
    expect(await run.engine.sessions.get(owner, run.id)).toMatchObject({ status: 'done' });
    expectUsage(run);
  });

  test('tells a reader that is in the middle of it', async () => {
    const run = await runningSession({ maxSessionLogBytes: 1000, pageEvents: 5 });
    const { socket } = await handshake(run, run.id);
    await takesAll(run, socket);
    for (let at = 0; at < 8; at += 1) socket.say(output(`early-${at}`));
    await settled();
    const stop = new AbortController();
    const items = await run.engine.sessions.follow(owner, run.id, { from: 0, signal: stop.signal });
    const reader = items[Symbol.asyncIterator]();
    for (let at = 0; at < 5; at += 1) expect((await reader.next()).value).toMatchObject({ kind: 'event' });
    for (let at = 0; at < 30; at += 1) socket.say(output(`late-${at}`, 100));
    await settled();
    expect((await reader.next()).value).toMatchObject({ kind: 'notice', type: 'resync_required' });
    stop.abort();
  });
});

describe('retention', () => {
  test('removes sessions that ended long ago, and the old events of those that go on', async () => {
    const config = { logRetentionSeconds: (10 * day) / 1000, retentionSweepSeconds: 60 };
    const run = await runningSession(config);
    const { workId, id: ended } = await run.session(run.env, { events: [message('old')] });
    await run.engine.bridge.stop(owner, { environmentId: run.env, workId, force: true, proof: null });
    const { socket } = await handshake(run, run.id);
    socket.say({ type: 'ack', seq: 2 });
    socket.say(output('old'));
    await settled();

    run.clock.jump(9 * day);
    socket.say(output('new'));
    await settled();
    await run.clock.advance(61_000);
    expect((await run.engine.sessions.list(owner, { limit: 10 })).items).toHaveLength(2);

    run.clock.jump(2 * day);
    await run.clock.advance(61_000);
    const { items } = await run.engine.sessions.list(owner, { limit: 10 });
    expect(items.map(({ id }) => id)).toEqual([run.id]);
    await expect(run.engine.sessions.get(owner, ended)).rejects.toMatchObject({ code: 'not_found' });
    const kept = (await run.events(run.id)).map(({ id }) => id);
    expect(kept).toContain('new');
    expect(kept).not.toContain('old');
    expectUsage(run);
  });

  test('takes large logs a bounded piece at a time, and ends with nothing left', async () => {
    const harness = openHarness();
    const env = await harness.register();
    for (let at = 0; at < 5; at += 1) {
      const events = Array.from({ length: 70 }, (_, each) => message(`${at}-${each}`));
      const { workId } = await harness.session(env, { events });
      await harness.engine.bridge.stop(owner, { environmentId: env, workId, force: true, proof: null });
      await harness.clock.advance(1);
    }
    const eventsLeft = () =>
      Number(harness.db.prepare('SELECT count(*) AS n FROM session_event').get()?.['n']);
    let before = eventsLeft();
    const removed: string[] = [];
    for (let after: string | undefined = ''; after !== undefined;) {
      const step: { removed: readonly string[]; next: string | undefined } = await harness.acts.expireLogs({
        before: harness.clock.now() + 1,
        after,
        limit: 40,
      });
      expect(before - eventsLeft()).toBeLessThanOrEqual(40);
      before = eventsLeft();
      removed.push(...step.removed);
      after = step.next;
    }
    expect(removed).toHaveLength(5);
    expect(eventsLeft()).toBe(0);
    expectUsage(harness);
  });

  test('is off unless it is asked for', async () => {
    const harness = openHarness();
    await harness.engine.start();
    const env = await harness.register();
    const { workId } = await harness.session(env);
    await harness.engine.bridge.stop(owner, { environmentId: env, workId, force: true, proof: null });
    harness.clock.jump(1000 * day);
    await harness.clock.advance(600_000);
    expect((await harness.engine.sessions.list(owner, { limit: 10 })).items).toHaveLength(1);
    await harness.engine.stop();
  });
});

test('the sizes that are kept are those of the events that are there, whatever happened', async () => {
  const random = seededRandom(3);
  const harness = openHarness({ maxSessionLogBytes: 500 });
  const env = await harness.register();
  const ids: string[] = [];
  for (let step = 0; step < 200; step += 1) {
    const pick = ids[Math.floor(random.fraction() * ids.length)];
    const kind = random.fraction();
    if (pick === undefined || kind < 0.1) ids.push((await harness.session(env, { events: [prompt] })).id);
    else if (kind < 0.15) {
      await harness.engine.sessions.delete(owner, pick);
      ids.splice(ids.indexOf(pick), 1);
    } else
      await harness.engine.sessions
        .append(owner, pick, [message(`m${Math.floor(kind * 50)}`, 60)])
        .catch((error: unknown) => expect(error).toMatchObject(quotaError('session_log_bytes')));
  }
  expectUsage(harness);
});

/** The worker acknowledges what there is, and that is written. */
async function takesAll({ clock }: Harness, socket: TestSocket): Promise<void> {
  const seq = socket.frames.reduce((last, frame) => Math.max(last, 'seq' in frame ? frame.seq : 0), 0);
  socket.say({ type: 'ack', seq });
  await clock.advance(20_000);
}

function sizeOf(events: readonly { readonly data: object }[]): number {
  return events.reduce((sum, { data }) => sum + Buffer.byteLength(JSON.stringify(data)), 0);
}

function expectUsage({ db }: Harness): void {
  const rows = db
    .prepare(
      `SELECT s.log_bytes, (SELECT coalesce(sum(octet_length(data)), 0) FROM session_event WHERE session_id = s.id) AS real
       FROM session s`,
    )
    .all();
  for (const { log_bytes, real } of rows) expect(log_bytes).toBe(real);
  const total = rows.reduce((sum, { real }) => sum + Number(real), 0);
  expect(db.prepare('SELECT sum(log_bytes) AS n FROM session_usage').get()?.['n']).toBe(total);
}

async function followed({ engine }: Harness, id: string, count: number): Promise<FollowerItem[]> {
  const stop = new AbortController();
  const items: FollowerItem[] = [];
  for await (const item of await engine.sessions.follow(owner, id, { from: 0, signal: stop.signal })) {
    items.push(item);
    if (items.length === count) stop.abort();
  }
  return items;
}
