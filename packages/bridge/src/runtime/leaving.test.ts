import { ManualClock } from '@sallyport/core/testing';
import { describe, expect, test } from 'vitest';
import { BridgeState } from './state.ts';
import { temporaryFolder } from './testing/bench.ts';
import { workOf } from './testing/fake-service.ts';
import { useBench } from './testing/use-bench.ts';

const { service, start, startSession } = useBench();

/** Half of each pause is left: on a clock that stands still nobody sees its end. */
const halfway = { fraction: () => 0.5, bytes: (length: number) => new Uint8Array(length) };
const unavailable = { status: 503, body: { error: 'draining' } };
const routes = () => service.calls.all.map(({ route }) => route);
const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
};

describe('a bridge that stops says so to the service', () => {
  test('last of all, when the end of its sessions is known', async () => {
    const { bench, stream } = await startSession(
      `trap 'exit 6' INT; echo up; while :; do sleep 1000 >/dev/null 2>&1 & wait $!; done`,
    );
    await bench.until('session.output');
    await bench.stop();
    expect(stream.frames.all.at(-1)).toMatchObject({ type: 'worker.exited', data: { exit_code: 6 } });
    expect(routes().at(-1)).toBe('disconnect');
    const { path, headers } = await service.called('disconnect');
    expect(path).toBe('/v1/environments/env_1/bridge/disconnect');
    const register = await service.called('register');
    expect(headers['vendor-worker-id']).toBe(register.headers['vendor-worker-id']);
    expect(service.countOf('unregister')).toBe(0);
  });

  test('with `once`, too', async () => {
    service.grantSession('session_a');
    expect(await start({ run: 'true', once: true }).result).toMatchObject({ reason: 'once' });
    expect(routes().at(-1)).toBe('disconnect');
  });

  test('but not with `remove`, nor where it never got the environment', async () => {
    const removed = start({ run: 'true', remove: true });
    await removed.until('polling');
    await removed.stop();
    service.script('register', {
      status: 409,
      body: { error: 'already_registered', retry_after_ms: 60_000 },
    });
    const rival = start({ run: 'true' });
    await rival.until('occupied');
    await rival.stop();
    expect(service.countOf('unregister')).toBe(1);
    expect(service.countOf('disconnect')).toBe(0);
  });

  test.each([
    ['does not know the call', { status: 404, body: { error: 'not_found' } }],
    ['is gone', { reset: true as const }],
  ])('and ends as usual where that %s', async (_, answer) => {
    service.script('disconnect', answer);
    const bench = start({ run: 'true' });
    await bench.until('polling');
    const told = bench.events.all.length;
    expect(await bench.stop()).toEqual({ reason: 'stopped', killed: false });
    expect(bench.events.all.slice(told)).toEqual([{ type: 'stopping', sessions: 0 }]);
  });

  test.each(['disconnect', 'unregister'])('for 3 s at most (%s)', async (route) => {
    const clock = new ManualClock();
    service.script(route, { hang: true });
    const bench = start({ run: 'true', clock, remove: route === 'unregister' });
    await bench.until('polling');
    bench.signal();
    await service.called(route);
    await clock.advance(3_000);
    expect(await bench.result).toEqual({ reason: 'stopped', killed: false });
  });
});

describe('a bridge that is told to stop does not sit out', () => {
  test('the pause after a failed poll', async () => {
    service.script('poll', unavailable);
    const bench = start({ run: 'true', clock: new ManualClock(), random: halfway });
    await bench.until('offline');
    expect(await bench.stop()).toMatchObject({ reason: 'stopped' });
  });

  test('the pause of a failed acknowledgement', async () => {
    service.script('ack', unavailable);
    service.grantSession('session_a');
    const clock = new ManualClock();
    const bench = start({ run: 'true', clock, random: halfway });
    await service.called('ack');
    await until(() => clock.timers === 2); // the wake watch, and the pause
    expect(await bench.stop()).toMatchObject({ reason: 'stopped' });
    expect(service.countOf('ack')).toBe(1);
  });

  test('the pause of a failed handshake; the work is stopped', async () => {
    service.script('handshake', unavailable);
    service.grantSession('session_a');
    const bench = start({ run: 'true', clock: new ManualClock(), random: halfway });
    await bench.until('session.disconnected');
    expect(await bench.stop()).toMatchObject({ reason: 'stopped' });
    expect((await service.called('stop')).body).toEqual({ force: true, reason: 'bridge_stopped' });
  });

  test('the pause of a stream that is lost, when the process has ended: one more try, then the next start tells', async () => {
    const directory = temporaryFolder();
    const { bench, stream } = await startSession('read line', {
      clock: new ManualClock(),
      random: halfway,
      directory,
      interactive: true,
    });
    service.script('stream', unavailable, unavailable);
    service.acknowledges = false;
    stream.send({ id: 'e', seq: 1, type: 'control.input', session_id: 's', data: { text: 'go' } });
    await stream.frames.until(({ type }) => type === 'worker.exited');
    stream.socket.terminate();
    await bench.until('session.disconnected');
    expect(await bench.stop()).toMatchObject({ reason: 'stopped', killed: false });
    expect(service.countOf('stream')).toBe(2);
    const state = new BridgeState(bench.stateDir, [service.url, directory, 'bench']);
    expect(state.sessions).toMatchObject([{ session_id: 'session_a' }]);
  });

  test('the reports about work of an earlier bridge, which the next start makes', async () => {
    const [stateDir, directory] = [temporaryFolder(), temporaryFolder()];
    const state = new BridgeState(stateDir, [service.url, directory, 'bench']);
    state.saveSession({
      session_id: 'session_o',
      work_id: 'work_o',
      environment_id: 'env_1',
      must_end: true,
    });
    service.script('stop', { hang: true });
    const bench = start({ run: 'true', clock: new ManualClock(), stateDir, directory });
    await service.called('stop');
    expect(await bench.stop()).toMatchObject({ reason: 'stopped' });
    expect(state.sessions).toHaveLength(1);
  });
});

describe('work whose acknowledgement was under way when the bridge was told to stop', () => {
  /** Waits until `route` was called, stops, and lets the answer come. */
  const stopDuring = async (
    answers: (arrived: Promise<undefined>) => Parameters<typeof service.script>[1][],
    options: Partial<Parameters<typeof start>[0]> = {},
  ) => {
    const directory = temporaryFolder();
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<undefined>();
    service.script('ack', ...answers(arrived));
    service.grantSession('session_a');
    const bench = start({ run: 'true', directory, ...options });
    await service.called('ack');
    bench.signal();
    arrive(undefined);
    expect(await bench.result).toMatchObject({ reason: 'stopped' });
    expect(bench.of('session.started')).toEqual([]);
    return new BridgeState(bench.stateDir, [service.url, directory, 'bench']);
  };

  test('is stopped when that won', async () => {
    const state = await stopDuring((after) => [{ after }]);
    const { path, body } = await service.called('stop');
    expect([path, body]).toEqual([
      `/v1/environments/env_1/work/${workOf('session_a')}/stop`,
      { force: true, reason: 'bridge_stopped' },
    ]);
    expect(state.sessions).toEqual([]);
  });

  test('is stopped when that won although its answer was lost', async () => {
    const yours = { status: 409, body: { error: 'ack_already_processed', yours: true } };
    await stopDuring((after) => [{ after, reset: true }, yours], {
      clock: new ManualClock(),
      random: halfway,
    });
    expect((await service.called('stop')).body).toEqual({ force: true, reason: 'bridge_stopped' });
    expect(service.countOf('ack')).toBe(2);
  });

  test('is kept for the next start when the service cannot be told', async () => {
    service.script('stop', { status: 500 }, { status: 500 }, { status: 500 });
    const state = await stopDuring((after) => [{ after }]);
    expect(state.sessions).toMatchObject([{ work_id: workOf('session_a') }]);
  });

  test('is left alone when another has it', async () => {
    await stopDuring((after) => [
      { after, status: 409, body: { error: 'ack_already_processed', yours: false } },
    ]);
    expect(service.countOf('stop')).toBe(0);
  });
});

describe('`kill` still tells the service, for 1.5 s at most', () => {
  const stubborn = `trap '' INT TERM; echo up; while :; do sleep 1000; done`;

  test('of the end of each session on its stream, then that it leaves', async () => {
    const { bench, stream } = await startSession(stubborn);
    await stream.frames.until(({ type }) => type === 'worker.ready'); // its stream is open
    bench.signal();
    await service.called('stop');
    bench.runtime.kill();
    expect(await bench.result).toEqual({ reason: 'stopped', killed: true });
    expect(stream.frames.all.at(-1)).toMatchObject({ type: 'worker.exited', data: { signal: 'SIGKILL' } });
    expect(service.countOf('stop')).toBe(1);
    expect(routes().at(-1)).toBe('disconnect');
  });

  test('by force, with the proof of the worker, where the stream is lost', async () => {
    const directory = temporaryFolder();
    const { bench, stream } = await startSession(stubborn, {
      clock: new ManualClock(),
      random: halfway,
      directory,
    });
    await bench.until('session.output');
    stream.socket.terminate();
    await bench.until('session.disconnected');
    bench.runtime.kill();
    expect(await bench.result).toEqual({ reason: 'stopped', killed: true });
    const { body, headers } = await service.called('stop');
    expect([body, headers['x-worker-token']]).toEqual([{ force: true, reason: 'bridge_stopped' }, 'jwt-1']);
    expect(routes().at(-1)).toBe('disconnect');
    expect(new BridgeState(bench.stateDir, [service.url, directory, 'bench']).sessions).toEqual([]);
  });

  test('of work that never began', async () => {
    service.script('stop', { hang: true });
    service.script('handshake', unavailable);
    service.grantSession('session_a');
    const bench = start({ run: 'true', clock: new ManualClock(), random: halfway });
    await bench.until('session.disconnected');
    bench.signal();
    await service.called('stop');
    bench.runtime.kill();
    expect(await bench.result).toEqual({ reason: 'stopped', killed: true });
    expect((await service.called('stop', 2)).body).toEqual({ force: true, reason: 'bridge_stopped' });
    expect(routes().at(-1)).toBe('disconnect');
  });

  test('and leaves what takes longer to the next start', async () => {
    service.acknowledges = false;
    service.script('disconnect', { hang: true });
    const clock = new ManualClock();
    const directory = temporaryFolder();
    const { bench, stream } = await startSession(stubborn, { clock, directory });
    await stream.frames.until(({ type }) => type === 'worker.ready'); // its stream is open
    bench.runtime.kill();
    await stream.frames.until(({ type }) => type === 'worker.exited');
    await clock.advance(1_000);
    await service.called('disconnect');
    await clock.advance(500);
    expect(await bench.result).toEqual({ reason: 'stopped', killed: true });
    const state = new BridgeState(bench.stateDir, [service.url, directory, 'bench']);
    expect(state.sessions).toMatchObject([{ session_id: 'session_a', must_end: true }]);
  });

  test.each(['disconnect', 'unregister'])('unless it is called once more (%s)', async (route) => {
    service.script(route, { hang: true });
    const bench = start({ run: 'true', clock: new ManualClock(), remove: route === 'unregister' });
    await bench.until('polling');
    bench.runtime.kill();
    await service.called(route);
    bench.runtime.kill();
    expect(await bench.result).toEqual({ reason: 'stopped', killed: true });
  });
});
