import { ServiceError } from '@sallyport/core';
import { describe, expect, test, vi } from 'vitest';
import { owner } from './harness.ts';
import { handshake, prompt, runningSession, settled } from './running-session.ts';
import { openSocket, type TestSocket } from './socket.ts';

function seqs({ frames }: TestSocket): number[] {
  return frames.flatMap((frame) => ('seq' in frame && 'session_id' in frame ? [frame.seq] : []));
}

describe('a worker stream', () => {
  test('begins with the first events, says when it has caught up, and goes on live', async () => {
    const run = await runningSession();
    const { socket } = await handshake(run, run.id);
    expect(socket.frames.map(({ type }) => type)).toEqual([
      'session.message',
      'session.updated',
      'caught_up',
    ]);
    expect(socket.frames[0]).toMatchObject({
      id: 'prompt',
      seq: 1,
      session_id: run.id,
      data: { text: 'hello' },
    });
    await run.engine.sessions.append(owner, run.id, [{ type: 'control.input', data: { text: 'more' } }]);
    await settled();
    expect(socket.frames.at(-1)).toMatchObject({ type: 'control.input', seq: 3 });
    expect(await run.engine.sessions.get(owner, run.id)).toMatchObject({ status: 'running' });
  });

  test('stores each event once, in order and without gaps, acknowledges it, and does not echo it', async () => {
    const run = await runningSession();
    const { socket } = await handshake(run, run.id);
    const say = (id: string) => socket.say({ id, type: 'session.output', data: { id } });
    for (const id of ['a', 'b', 'a', 'c']) say(id);
    await settled();
    say('b');
    await settled();
    const acks = socket.frames.filter(({ type }) => type === 'ack');
    expect(acks.map((ack) => [ack, 0][0])).toEqual(
      [
        ['a', 3],
        ['b', 4],
        ['a', 3],
        ['c', 5],
        ['b', 4],
      ].map(([id, seq]) => ({ type: 'ack', id, seq })),
    );
    expect((await run.events(run.id)).map(({ seq, id }) => [seq, id]).slice(2)).toEqual([
      [3, 'a'],
      [4, 'b'],
      [5, 'c'],
    ]);
    expect(socket.frames.some(({ type }) => type === 'session.output')).toBe(false);
  });

  test('takes the other members of an event without data as its data', async () => {
    const run = await runningSession();
    const { socket } = await handshake(run, run.id);
    socket.say({ id: 'x', type: 'tool.call', tool: 'grep' });
    await settled();
    expect((await run.events(run.id)).at(-1)).toMatchObject({ type: 'tool.call', data: { tool: 'grep' } });
  });

  test('resumes after what the worker has taken, or after what it asks for', async () => {
    const run = await runningSession();
    const first = await handshake(run, run.id);
    first.socket.say({ type: 'ack', seq: 1 });
    first.socket.say({ type: 'ack', seq: 999 });
    const again = await handshake(run, run.id, { workerToken: first.token });
    expect(first.socket.closed).toBe('terminated');
    expect(seqs(again.socket)).toEqual([]);
    const next = await handshake(run, run.id, { from: 1 });
    expect(seqs(next.socket)).toEqual([2]);
  });

  test('gives the next worker what the one before did not take', async () => {
    const run = await runningSession();
    const first = await handshake(run, run.id);
    first.socket.say({ type: 'ack', seq: 1 });
    await run.clock.advance(2000);
    const next = await handshake(run, run.id);
    expect(seqs(next.socket)).toEqual([2]);
  });

  test('says so when the place asked for is not in the log, and starts over', async () => {
    const run = await runningSession();
    const { socket } = await handshake(run, run.id, { from: 50 });
    expect(socket.frames[0]).toEqual({ type: 'resync_required', oldest_seq: 1 });
    expect(seqs(socket)).toEqual([1, 2]);
  });

  test('ends the session with what the process ended with', async () => {
    for (const [data, status] of [
      [{ exit_code: 0, signal: null }, 'done'],
      [{ exit_code: 3, signal: null }, 'failed'],
      [{ exit_code: null, signal: 'SIGKILL' }, 'failed'],
    ] as const) {
      const run = await runningSession();
      const { socket } = await handshake(run, run.id);
      socket.say({ id: 'end', type: 'worker.exited', data });
      await settled();
      const tail = (await run.events(run.id)).slice(-2);
      expect(tail[0]).toMatchObject({ type: 'worker.exited', data });
      expect(tail[1]).toMatchObject({ type: 'session.updated', data: { status } });
      expect(tail[1]?.data['exit_code']).toBe(data.exit_code ?? undefined);
      await expect(run.engine.sessions.append(owner, run.id, [prompt])).rejects.toMatchObject({
        code: 'session_ended',
      });
    }
  });

  test('ends with worker.exited: nothing comes after it, in the same batch or later', async () => {
    const run = await runningSession();
    const { socket, claims } = await handshake(run, run.id);
    socket.say({ id: 'a', type: 'note' });
    // Both come while the first is committed, so they share a batch.
    socket.say({ id: 'end', type: 'worker.exited', data: { exit_code: 0, signal: null } });
    socket.say({ id: 'late', type: 'note' });
    await settled();
    const told = socket.frames.slice(3).map((frame) => ('id' in frame ? [frame.type, frame.id] : frame));
    expect(told.slice(0, 2)).toEqual([
      ['ack', 'a'],
      ['ack', 'end'],
    ]);
    expect(told).toContainEqual(expect.objectContaining({ type: 'error', error: 'session_ended' }));
    expect(socket.closed).toEqual({ code: 4410, reason: 'session_ended' });

    // An acknowledgement that got lost is repeated; new events stay out.
    const again = openSocket();
    (await run.engine.worker.open(claims, run.id, { from: undefined }))(again);
    for (const id of ['a', 'end']) again.say({ id, type: 'worker.exited', data: { exit_code: 7 } });
    await settled();
    expect(again.frames.filter(({ type }) => type === 'ack')).toEqual([
      { type: 'ack', id: 'a', seq: 3 },
      { type: 'ack', id: 'end', seq: 4 },
    ]);
    expect(again.closed).toBeUndefined();
    again.say({ id: 'later', type: 'note' });
    await settled();
    expect(again.closed).toEqual({ code: 4410, reason: 'session_ended' });
    expect((await run.events(run.id)).map(({ id, type }) => [type, id]).slice(2)).toEqual([
      ['note', 'a'],
      ['worker.exited', 'end'],
      ['session.updated', expect.any(String)],
    ]);
    await run.engine.stop();
  });

  test('ends a stopped session as stopped', async () => {
    const run = await runningSession();
    const { socket } = await handshake(run, run.id);
    const { env: environmentId, workId } = run;
    await run.engine.bridge.stop(owner, { environmentId, workId, force: false, proof: null });
    await settled();
    expect(socket.frames.find(({ type }) => type === 'control.stop')).toMatchObject({
      data: { force: false, deadline_ms: 10_000 },
    });
    socket.say({ id: 'end', type: 'worker.exited', data: { exit_code: 0, signal: null } });
    await settled();
    expect(await run.engine.sessions.get(owner, run.id)).toMatchObject({ status: 'stopped' });
  });
});

describe('an epoch', () => {
  test('rises with each takeover, closes the older stream and refuses its events', async () => {
    const run = await runningSession();
    const old = await handshake(run, run.id);
    const next = await handshake(run, run.id);
    expect([old.claims.epoch, next.claims.epoch]).toEqual([1, 2]);
    expect(old.socket.closed).toEqual({ code: 4090, reason: 'stale_epoch' });
    expect(next.socket.closed).toBeUndefined();
    await expect(run.engine.worker.register(old.claims, run.id)).rejects.toMatchObject({
      code: 'stale_epoch',
    });
    await expect(run.engine.worker.open(old.claims, run.id, { from: 0 })).rejects.toMatchObject({
      status: 409,
    });
    await expect(
      run.acts.appendEvents({
        sessionId: run.id,
        from: { epoch: 1 },
        events: [prompt],
        now: 0,
        terms: {} as never,
      }),
    ).rejects.toMatchObject({ code: 'stale_epoch' });
  });

  test('stays for who proves to be its worker, and for nobody else', async () => {
    const run = await runningSession();
    const first = await handshake(run, run.id);
    const renewed = await handshake(run, run.id, { workerToken: first.token });
    expect(renewed.claims.epoch).toBe(1);
    await run.clock.advance(3_600_000);
    const expired = await handshake(run, run.id, { workerToken: first.token });
    expect(expired.claims.epoch).toBe(2);
  });

  test("is of one session: another one's worker finds nothing", async () => {
    const run = await runningSession();
    const { claims } = await handshake(run, run.id);
    const other = await run.session(run.env);
    await expect(run.engine.worker.register(claims, other.id)).rejects.toMatchObject({ status: 404 });
    await expect(run.engine.worker.open(claims, other.id, { from: 0 })).rejects.toMatchObject({
      status: 404,
    });
  });

  test('is fenced by a forced stop, by the end of the session and by that of the environment', async () => {
    for (const [end, code] of [
      [(run: Run) => run.engine.bridge.stop(owner, { ...reference(run), force: true, proof: null }), 4403],
      [(run: Run) => run.engine.sessions.delete(owner, run.id), 4410],
      [(run: Run) => run.engine.bridge.unregister(owner, run.env), 4410],
    ] as const) {
      const run = await runningSession();
      const { socket } = await handshake(run, run.id);
      await end(run);
      await settled();
      expect(socket.closed).toMatchObject({ code });
    }
  });
});

type Run = Awaited<ReturnType<typeof runningSession>>;

function reference({ env: environmentId, workId }: Run) {
  return { environmentId, workId };
}

describe('a lease', () => {
  test('is renewed by frames and pongs, and lost 60 s after the last one', async () => {
    const run = await runningSession();
    const { socket } = await handshake(run, run.id);
    for (let i = 0; i < 20; i++) {
      await run.clock.advance(20_000);
      if (i % 2) socket.pong();
      else socket.say({ type: 'worker.heartbeat' });
    }
    expect(run.workState(run.workId)).toBe('active');
    expect(socket.pings).toBeGreaterThan(15);
    await run.clock.advance(45_250);
    expect(socket.closed).toBe('terminated');
    await run.clock.advance(12_000);
    expect(run.workState(run.workId)).toBe('active');
    await run.clock.advance(5000);
    expect(run.workState(run.workId)).toBe('lost');
    const back = await handshake(run, run.id);
    expect(run.workState(run.workId)).toBe('active');
    expect(back.socket.closed).toBeUndefined();
  });

  test('that is lost while the environment is there gives the work to a held poll, with the next epoch', async () => {
    const run = await runningSession();
    const { socket, claims } = await handshake(run, run.id);
    socket.hold();
    const polls = async () => {
      for (;;) {
        const { work } = await run.hold(run.env, { blockMs: 25_000 });
        if (work) return work.id;
      }
    };
    const granted = polls();
    await run.clock.advance(62_000);
    expect(await granted).toBe(run.workId);
    await expect(run.engine.worker.register(claims, run.id)).rejects.toMatchObject({ code: 'stale_epoch' });
  });

  test('outlives a sleep of the host by 60 s, though the environment is heard before the worker', async () => {
    const run = await runningSession();
    const { claims } = await handshake(run, run.id);
    await run.clock.advance(10_000);
    run.clock.jump(600_000);
    const { env: environmentId } = run;
    const held = await run.engine.bridge.poll(owner, { environmentId, blockMs: 60_000 });
    await run.clock.advance(30_000);
    await held.leave();
    expect((await held.answer).work).toBeNull();
    expect(await run.engine.worker.register(claims, run.id)).toEqual({ status: 'registered' });
    expect(run.workState(run.workId)).toBe('active');
  });
});

test('a worker whose large frame comes in over a slow line is not silent', async () => {
  const run = await runningSession();
  const { socket } = await handshake(run, run.id);
  for (let i = 0; i < 12; i++) {
    socket.trickle(4096);
    await run.clock.advance(10_000);
  }
  expect(socket.closed).toBeUndefined();
  expect(run.workState(run.workId)).toBe('active');
  await run.clock.advance(45_250);
  expect(socket.closed).toBe('terminated');
});

test('a worker that posts its signs of life keeps a stream that hears nothing', async () => {
  const run = await runningSession();
  const { socket, claims } = await handshake(run, run.id);
  for (let i = 0; i < 6; i++) {
    await run.clock.advance(20_000);
    await run.engine.worker.append(claims, run.id, { events: [], takenSeq: 2 });
    await settled();
  }
  expect(socket.closed).toBeUndefined();
  expect(run.workState(run.workId)).toBe('active');
  await run.clock.advance(45_250);
  expect(socket.closed).toBe('terminated');
  const again = await handshake(run, run.id, { workerToken: JSON.stringify(claims) });
  expect(seqs(again.socket)).toEqual([]);
  await run.engine.stop();
});

describe('a socket', () => {
  test('with a slow reader holds a bounded amount, and is closed after 30 s without progress', async () => {
    const run = await runningSession();
    const { socket } = await handshake(run, run.id);
    socket.hold();
    const text = 'x'.repeat(100_000);
    for (let i = 0; i < 30; i++)
      await run.engine.sessions.append(owner, run.id, [{ type: 'note', data: { text } }]);
    await settled();
    expect(socket.bufferedAmount).toBeGreaterThan(900_000);
    expect(socket.bufferedAmount).toBeLessThanOrEqual(1024 * 1024);
    socket.release();
    await settled();
    expect(seqs(socket)).toEqual(Array.from({ length: 32 }, (_, i) => i + 1));
    // Who reads nothing hears no ping.
    await run.clock.advance(20_000);
    socket.hold();
    for (let i = 0; i < 30; i++)
      await run.engine.sessions.append(owner, run.id, [{ type: 'note', data: { text } }]);
    await run.clock.advance(29_000);
    expect(socket.closed).toBeUndefined();
    await run.clock.advance(2_000);
    expect(socket.closed).toEqual({ code: 4408, reason: 'slow_consumer' });
  });

  test('with a slow line that takes what is sent little by little is kept, and closed 30 s after the last', async () => {
    const run = await runningSession();
    const { socket } = await handshake(run, run.id);
    socket.hold();
    const text = 'x'.repeat(900_000);
    for (let i = 0; i < 2; i++)
      await run.engine.sessions.append(owner, run.id, [{ type: 'note', data: { text } }]);
    for (let i = 0; i < 6; i++) {
      await run.clock.advance(29_000);
      expect(socket.closed).toBeUndefined();
      socket.take(100_000);
    }
    await run.clock.advance(31_000);
    expect(socket.closed).toEqual({ code: 4408, reason: 'slow_consumer' });
  });

  test('is told of bad frames, and closed at the third', async () => {
    const run = await runningSession();
    const { socket } = await handshake(run, run.id);
    for (const bad of ['{', '[]']) socket.say(bad);
    expect(socket.frames.filter(({ type }) => type === 'error')).toHaveLength(2);
    expect(socket.closed).toBeUndefined();
    socket.say({ id: 'x', type: 'session.updated', data: { status: 'done' } });
    expect(socket.closed).toMatchObject({ code: 1007 });
  });

  test('is told before its token expires, lives on with a fresh one, and else ends after a minute', async () => {
    const run = await runningSession();
    const { socket, token } = await handshake(run, run.id);
    const alive = async (minutes: number) => {
      for (let i = 0; i < minutes * 2; i++) {
        socket.pong();
        await run.clock.advance(30_000);
      }
    };
    const notices = () => socket.frames.filter(({ type }) => type === 'token_expiring').length;
    await alive(54);
    expect(notices()).toBe(0);
    await alive(2);
    expect(notices()).toBe(1);
    const { worker_jwt } = await run.engine.worker.takeOver(owner, run.id, { workerToken: token });
    socket.say({ type: 'auth', token: worker_jwt });
    await alive(54);
    expect(notices()).toBe(1);
    await alive(6);
    expect(notices()).toBe(2);
    expect(socket.closed).toBeUndefined();
    await alive(2);
    expect(socket.closed).toMatchObject({ code: 4401 });
  });

  test('ends when the store fails, before a later event overtakes the one that failed', async () => {
    const run = await runningSession();
    const { socket } = await handshake(run, run.id);
    const failure = new ServiceError('store_unavailable', 'The store is full.');
    vi.spyOn(run.acts, 'appendEvents').mockRejectedValueOnce(failure);
    for (const id of ['a', 'b', 'c']) socket.say({ id, type: 'note', data: {} });
    await settled();
    expect(socket.closed).toMatchObject({ code: 1012 });
    expect(await run.events(run.id)).toHaveLength(2);
  });

  test('stops reading beyond 200 events a second, and goes on', async () => {
    const run = await runningSession();
    const { socket } = await handshake(run, run.id);
    for (let i = 0; i < 200; i++) socket.say({ id: `e${String(i)}`, type: 'note', data: {} });
    expect(socket.isPaused).toBe(true);
    await run.clock.advance(1250);
    expect(socket.isPaused).toBe(false);
    expect(await run.events(run.id)).toHaveLength(202);
  });

  test('is sent away when the service drains', async () => {
    const run = await runningSession();
    const { socket } = await handshake(run, run.id);
    const drained = run.engine.drain();
    await run.clock.advance(10);
    await drained;
    expect(socket.frames.at(-1)).toMatchObject({ type: 'draining' });
    expect(socket.closed).toMatchObject({ code: 1012 });
    await expect(run.engine.worker.takeOver(owner, run.id, {})).rejects.toMatchObject({ code: 'draining' });
  });
});

describe('a follower', () => {
  async function take(items: AsyncIterable<unknown>, count: number): Promise<unknown[]> {
    const taken: unknown[] = [];
    for await (const item of items) if (taken.push(item) === count) break;
    return taken;
  }

  test('gets everything from the beginning, worker events too, then live, until the session is deleted', async () => {
    const run = await runningSession();
    const { socket } = await handshake(run, run.id);
    socket.say({ id: 'out', type: 'session.output', data: {} });
    await settled();
    const signal = new AbortController().signal;
    const items = await run.engine.sessions.follow(owner, run.id, { from: undefined, signal });
    const iterator = items[Symbol.asyncIterator]();
    const types: unknown[] = [];
    for (let i = 0; i < 4; i++) {
      const item = await iterator.next();
      if (item.done !== true)
        types.push(item.value.kind === 'event' ? item.value.event.seq : item.value.type);
    }
    expect(types).toEqual([1, 2, 3, 'caught_up']);
    const live = iterator.next();
    await run.engine.sessions.append(owner, run.id, [{ type: 'note' }]);
    expect((await live).value).toMatchObject({ kind: 'event', event: { seq: 4, type: 'note', data: {} } });
    const end = iterator.next();
    await settled();
    await run.engine.sessions.delete(owner, run.id);
    expect((await end).done).toBe(true);
  });

  test('resumes, and is told when it cannot', async () => {
    const run = await runningSession();
    const signal = new AbortController().signal;
    const follow = async (from: number | 'unknown', count: number) =>
      take(await run.engine.sessions.follow(owner, run.id, { from, signal }), count);
    expect(await follow(1, 2)).toMatchObject([
      { event: { seq: 2 } },
      { type: 'caught_up', data: { seq: 2 } },
    ]);
    for (const lost of [3, 'unknown'] as const)
      expect(await follow(lost, 2)).toMatchObject([
        { kind: 'notice', type: 'resync_required', data: { oldest_seq: 1 } },
        { event: { seq: 1 } },
      ]);
  });

  test('ends with its signal, also while it waits', async () => {
    const run = await runningSession();
    const caller = new AbortController();
    const items = await run.engine.sessions.follow(owner, run.id, { from: 2, signal: caller.signal });
    const iterator = items[Symbol.asyncIterator]();
    await iterator.next();
    const waiting = iterator.next();
    await settled();
    caller.abort();
    expect((await waiting).done).toBe(true);
  });

  test('of another organization finds nothing', async () => {
    const run = await runningSession();
    const stranger = { ...owner, organizationId: 'other' };
    const signal = new AbortController().signal;
    await expect(run.engine.sessions.follow(stranger, run.id, { from: 0, signal })).rejects.toMatchObject({
      status: 404,
    });
    await expect(run.engine.sessions.get(stranger, run.id)).rejects.toMatchObject({ status: 404 });
    await expect(run.engine.worker.takeOver(stranger, run.id, {})).rejects.toMatchObject({ status: 404 });
  });
});

test('pages are bounded by bytes, and still give what is bigger', async () => {
  const run = await runningSession({ pageBytes: 1000, pageEvents: 3 });
  const big = { type: 'note', data: { text: 'x'.repeat(5000) } };
  await run.engine.sessions.append(owner, run.id, [big, big, { type: 'note' }]);
  const { socket } = await handshake(run, run.id);
  expect(seqs(socket)).toEqual([1, 2, 3, 4, 5]);
});
