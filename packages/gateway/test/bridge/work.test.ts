import { describe, expect, test } from 'vitest';
import { openHarness, owner, sessionRequest } from './harness.ts';
import { settled } from './running-session.ts';

const other = { ...owner, workerKey: 'worker-2' };

describe('a poll', () => {
  test('gives the oldest item, and null at once where none waits', async () => {
    const { register, session, poll, clock } = openHarness();
    const env = await register();
    expect(await poll(env)).toBeUndefined();
    const first = await session(env);
    await clock.advance(1);
    const second = await session(env);
    expect(await poll(env)).toBe(first.workId);
    expect(await poll(env)).toBe(second.workId);
    expect(await poll(env)).toBeUndefined();
  });

  test('that does not wait gets its item also when the store takes a while', async () => {
    const { engine, register, session, poll, clock, acts } = openHarness();
    const env = await register();
    const { workId } = await session(env);
    await engine.start();
    const claim = acts.claimWork.bind(acts);
    acts.claimWork = async (argument) => {
      await clock.advance(500);
      return claim(argument);
    };
    expect(await poll(env)).toBe(workId);
    await engine.stop();
  });

  test('that is held gets work as it comes, and null when its time is over', async () => {
    const { engine, register, session, hold, clock } = openHarness();
    const env = await register();
    await engine.start();
    const empty = hold(env, { blockMs: 5000 });
    await clock.advance(5250);
    expect((await empty).work).toBeNull();
    expect((await empty).nextPollMs).toBeLessThanOrEqual(1000);
    const held = hold(env, { blockMs: 5000 });
    await clock.advance(10);
    const { id, workId } = await session(env);
    expect(await held).toMatchObject({ work: { id: workId, data: { type: 'session', id } }, nextPollMs: 0 });
    await engine.stop();
  });

  test('that is held has its work claimed in the turn in which that is made, so that one commit does both', async () => {
    const { register, session, hold, acts } = openHarness();
    const env = await register();
    const held = hold(env, { blockMs: 60_000 });
    await settled();
    const create = acts.createSession.bind(acts);
    const release = Promise.withResolvers<undefined>();
    acts.createSession = async (argument) => {
      const created = create(argument);
      await release.promise; // the commit takes a while
      return created;
    };
    const creating = session(env);
    const { work } = await held;
    release.resolve(undefined);
    expect(work?.id).toBe((await creating).workId);
  });

  test('that is held is answered before whoever made the item is', async () => {
    const { register, session, hold } = openHarness();
    const env = await register();
    const answered: string[] = [];
    const held = hold(env, { blockMs: 60_000 }).then(() => answered.push('poll'));
    await settled();
    await Promise.all([held, session(env).then(() => answered.push('creator'))]);
    expect(answered).toEqual(['poll', 'creator']);
  });

  test('is completed by a newer one of the same worker, and left alone by another worker', async () => {
    const { register, session, hold } = openHarness();
    const env = await register();
    const older = hold(env, { blockMs: 60_000 });
    const others = hold(env, { blockMs: 60_000 }, other);
    const newer = hold(env, { blockMs: 60_000 });
    expect(await older).toMatchObject({ work: null, isSuperseded: true });
    const { workId } = await session(env);
    expect((await others).work?.id).toBe(workId);
    const next = await session(env);
    expect((await newer).work?.id).toBe(next.workId);
  });

  test('whose caller went away takes nothing with it', async () => {
    const { engine, register, session, poll } = openHarness();
    const env = await register();
    const gone = await engine.bridge.poll(owner, { environmentId: env, blockMs: 60_000 });
    await new Promise((resolve) => setImmediate(resolve));
    await gone.leave();
    expect((await gone.answer).work).toBeNull();
    const { workId } = await session(env);
    expect(await poll(env)).toBe(workId);
  });

  test('whose answer did not arrive gives the item back at once, for nothing', async () => {
    const { engine, register, session, poll, db } = openHarness();
    const env = await register();
    const { workId } = await session(env);
    for (let i = 0; i < 10; i++) {
      const lost = await engine.bridge.poll(owner, { environmentId: env });
      expect((await lost.answer).work?.id).toBe(workId);
      await lost.leave();
    }
    expect(db.prepare('SELECT deliveries FROM work').get()).toMatchObject({ deliveries: 0 });
    expect(await poll(env)).toBe(workId);
  });

  test('at capacity 0, or for other kinds of work, is granted nothing', async () => {
    const { register, session, hold } = openHarness();
    const env = await register();
    await session(env);
    expect((await hold(env, { capacity: 0 })).work).toBeNull();
    expect((await hold(env, { types: ['other'] })).work).toBeNull();
  });

  test('is answered with null while the service drains, and nothing is granted any more', async () => {
    const { engine, register, session, hold, poll } = openHarness();
    const env = await register();
    const held = hold(env, { blockMs: 60_000 });
    await new Promise((resolve) => setImmediate(resolve));
    await engine.drain();
    expect((await held).work).toBeNull();
    await session(env);
    expect(await poll(env)).toBeUndefined();
  });

  test('that is held ends with the environment', async () => {
    const { engine, register, hold } = openHarness();
    const env = await register();
    const held = hold(env, { blockMs: 60_000 });
    const refused = expect(held).rejects.toMatchObject({ code: 'environment_deleted' });
    await new Promise((resolve) => setImmediate(resolve));
    await engine.bridge.unregister(owner, env);
    await refused;
  });
});

test('a held poll keeps the registration', async () => {
  const { engine, register, hold, clock } = openHarness();
  const env = await register();
  await engine.start();
  const held = hold(env, { blockMs: 60_000 });
  await clock.advance(59_000);
  await expect(register()).rejects.toMatchObject({ code: 'already_registered' });
  await clock.advance(2000);
  expect((await held).work).toBeNull();
  await engine.stop();
});

describe('a delivery', () => {
  test('that nobody acknowledges is repeated after 10 s, and the fifth is the last', async () => {
    const { engine, register, session, poll, workState, clock } = openHarness();
    const env = await register();
    const { workId, id } = await session(env);
    await engine.start();
    for (let delivery = 1; delivery <= 5; delivery++) {
      expect(await poll(env)).toBe(workId);
      await clock.advance(9000);
      expect(await poll(env)).toBeUndefined();
      await clock.advance(2000);
    }
    expect(await poll(env)).toBeUndefined();
    expect(workState(workId)).toBe('dead');
    expect(await engine.sessions.get(owner, id)).toMatchObject({ status: 'failed' });
    await engine.stop();
  });
});

describe('an acknowledgement', () => {
  test('wins once; later ones are told whose it was', async () => {
    const { engine, register, session, poll, events } = openHarness();
    const env = await register();
    const { workId, id } = await session(env);
    await poll(env);
    const ack = (caller: typeof owner) => engine.bridge.ack(caller, { environmentId: env, workId });
    expect(await ack(owner)).toEqual({ id: workId, state: 'active' });
    await expect(ack(owner)).rejects.toMatchObject({
      code: 'ack_already_processed',
      details: { acked_by: 'worker-1', yours: true },
    });
    await expect(ack(other)).rejects.toMatchObject({ details: { acked_by: 'worker-1', yours: false } });
    expect((await events(id)).map(({ type, data }) => [type, data])).toEqual([
      ['session.updated', { status: 'running' }],
    ]);
  });

  test('counts late, when the item is in the queue again', async () => {
    const { engine, register, session, poll, clock, workState } = openHarness();
    const env = await register();
    const { workId } = await session(env);
    await engine.start();
    await poll(env);
    await clock.advance(12_000);
    expect(workState(workId)).toBe('queued');
    expect(await engine.bridge.ack(owner, { environmentId: env, workId })).toMatchObject({ state: 'active' });
    expect(await poll(env)).toBeUndefined();
    await engine.stop();
  });

  test('of stopped work says so; of unknown work and of another environment there is none', async () => {
    const { engine, register, session, poll } = openHarness();
    const env = await register();
    const { workId } = await session(env);
    await poll(env);
    const reference = { environmentId: env, workId };
    await engine.bridge.stop(owner, { ...reference, force: false, proof: null });
    await expect(engine.bridge.ack(owner, reference)).rejects.toMatchObject({ code: 'work_stopped' });
    await expect(engine.bridge.ack(owner, { environmentId: env, workId: 'work_none' })).rejects.toMatchObject(
      { status: 404 },
    );
  });
});

describe('a stop', () => {
  test('ends what has not started at once, and is repeatable', async () => {
    const { engine, register, session, poll } = openHarness();
    const env = await register();
    const { workId } = await session(env);
    const stop = () => engine.bridge.stop(owner, { environmentId: env, workId, force: false, proof: null });
    expect(await stop()).toEqual({ id: workId, state: 'stopped' });
    expect(await stop()).toEqual({ id: workId, state: 'stopped' });
    expect(await poll(env)).toBeUndefined();
  });

  test('asks running work to end, and gives up after 60 s', async () => {
    const { engine, register, session, poll, events, clock } = openHarness();
    const env = await register();
    const { workId, id } = await session(env);
    const reference = { environmentId: env, workId };
    await poll(env);
    await engine.bridge.ack(owner, reference);
    await engine.start();
    expect(await engine.bridge.stop(owner, { ...reference, force: false, proof: null })).toMatchObject({
      state: 'stopping',
    });
    expect(await engine.sessions.get(owner, id)).toMatchObject({ status: 'stopping' });
    await clock.advance(62_000);
    expect((await events(id)).map(({ type, data }) => [type, data])).toEqual([
      ['session.updated', { status: 'running' }],
      ['control.stop', { force: false, deadline_ms: 10_000 }],
      ['session.updated', { status: 'stopping' }],
      ['session.updated', { status: 'stopped', reason: 'worker_lost' }],
    ]);
    await engine.stop();
  });

  test("by force fences the worker; with the worker's token it confirms", async () => {
    const { engine, register, session, poll } = openHarness();
    const env = await register();
    const run = async () => {
      const { workId, id } = await session(env);
      await poll(env);
      await engine.bridge.ack(owner, { environmentId: env, workId });
      const { worker_jwt } = await engine.worker.takeOver(owner, id, {});
      return { workId, id, token: worker_jwt };
    };
    const forced = await run();
    expect(
      await engine.bridge.stop(owner, {
        environmentId: env,
        workId: forced.workId,
        force: true,
        proof: null,
      }),
    ).toMatchObject({ state: 'stopped' });
    await expect(engine.worker.takeOver(owner, forced.id, {})).rejects.toMatchObject({
      code: 'session_ended',
    });
    const confirmed = await run();
    const proof = await engine.worker.prove(confirmed.token);
    expect(
      await engine.bridge.stop(owner, { environmentId: env, workId: confirmed.workId, force: false, proof }),
    ).toMatchObject({ state: 'stopped' });
  });
});

describe('running work', () => {
  async function started(config = {}) {
    const harness = openHarness(config);
    const env = await harness.register();
    const created = await harness.session(env);
    await harness.poll(env);
    await harness.engine.bridge.ack(owner, { environmentId: env, workId: created.workId });
    await harness.engine.start();
    return { ...harness, env, ...created };
  }

  test('waits 5 min for its first stream, longer while its environment polls', async () => {
    const { clock, poll, env, id, workId, workState, engine, warnings } = await started();
    for (let minute = 0; minute < 8; minute++) {
      await clock.advance(30_000);
      await poll(env);
      await clock.advance(30_000);
    }
    expect(workState(workId)).toBe('active');
    await clock.advance(272_000);
    expect(workState(workId)).toBe('lost');
    expect(warnings).toEqual([{ work_id: workId, session_id: id, state: 'lost' }]);
    expect(await poll(env)).toBe(workId);
    await engine.stop();
  });

  test('is tried three times in all, each with the next epoch, and waits while nobody is there', async () => {
    const { clock, poll, env, workId, id, workState, engine, events } = await started({
      firstAttachSeconds: 60,
    });
    for (const attempt of [1, 2]) {
      const { worker_epoch } = await engine.worker.takeOver(owner, id, {});
      expect(worker_epoch).toBe(attempt * 2 - 1);
      await clock.advance(63_000);
      expect(workState(workId)).toBe('lost');
      expect(await engine.sessions.get(owner, id)).toMatchObject({ status: 'disconnected' });
      expect(await poll(env)).toBe(workId);
      await engine.bridge.ack(owner, { environmentId: env, workId });
    }
    await clock.advance(63_000);
    expect(await engine.sessions.get(owner, id)).toMatchObject({ status: 'failed' });
    expect((await events(id)).at(-1)?.data).toEqual({ status: 'failed', reason: 'worker_lost' });
    await engine.stop();
  });

  test('keeps its lease for 60 s more when the service restarts', async () => {
    const { clock, engine, restart, workId, workState } = await started({ firstAttachSeconds: 60 });
    await clock.advance(30_000);
    await engine.stop();
    clock.jump(3600_000);
    const next = restart();
    await next.start();
    await clock.advance(58_000);
    expect(workState(workId)).toBe('active');
    await clock.advance(4000);
    expect(workState(workId)).toBe('lost');
    await next.stop();
  });
});

test('a client sends neither a stop nor what a worker reports, in a new session or a running one', async () => {
  const { engine, register, session } = openHarness();
  const env = await register();
  const { id } = await session(env);
  const events = ['control.input', 'control.stop', 'worker.exited', 'worker.own'].map((type) => ({ type }));
  const refusal = {
    code: 'invalid_request',
    issues: [1, 2, 3].map((index) => ({
      path: `events/${index}/type`,
      message: expect.any(String) as string,
    })),
  };
  await expect(engine.sessions.append(owner, id, events)).rejects.toMatchObject(refusal);
  await expect(engine.sessions.create(owner, sessionRequest(env, { events }))).rejects.toMatchObject(refusal);
  expect((await engine.sessions.append(owner, id, events.slice(0, 1))).events).toHaveLength(1);
});

test('the same Idempotency-Key makes one session a day, and takes no other request', async () => {
  const { engine, register, clock, db } = openHarness();
  const env = await register();
  const create = (title: string) =>
    engine.sessions.create(owner, sessionRequest(env, { title }), { idempotencyKey: 'key' });
  const { id } = await create('a');
  expect((await create('a')).id).toBe(id);
  expect(db.prepare('SELECT count(*) AS n FROM work').get()).toMatchObject({ n: 1 });
  await expect(create('b')).rejects.toMatchObject({ code: 'invalid_request' });
  clock.jump(24 * 3600_000);
  expect((await create('a')).id).not.toBe(id);
});
