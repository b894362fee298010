import { ManualClock } from '@sallyport/core/testing';
import { describe, expect, test } from 'vitest';
import { BridgeState } from './state.ts';
import { temporaryFolder } from './testing/bench.ts';
import { logEvent, type FakeStream, workOf } from './testing/fake-service.ts';
import { useBench } from './testing/use-bench.ts';

const { service, startSession } = useBench();

const says = (stream: FakeStream, text: string) => stream.frames.until(({ data }) => data?.['text'] === text);
const exited = (stream: FakeStream) => stream.frames.until(({ type }) => type === 'worker.exited');
/** Ends with 6 on SIGINT; a shell without a trap may lose a signal while it starts its next command. */
const graceful = `trap 'exit 6' INT; echo up; while :; do sleep 1000 >/dev/null 2>&1 & wait $!; done`;
const stubborn = `trap 'echo int' INT; trap 'echo term' TERM; echo up; while :; do sleep 1000 >/dev/null 2>&1 & wait $!; done`;

describe('control.stop', () => {
  test('asks, asks again after 5 s, and kills the tree after 10 s', async () => {
    const clock = new ManualClock();
    const { bench, stream } = await startSession(stubborn, { clock });
    await says(stream, 'up');
    stream.send(logEvent(1, 'control.stop', { force: false, deadline_ms: 10_000 }));
    await says(stream, 'int');
    stream.send(logEvent(2, 'control.stop', { force: false, deadline_ms: 10_000 }));
    await clock.advance(4_999);
    expect(stream.frames.all.filter(({ data }) => data?.['text'] === 'term')).toEqual([]);
    await clock.advance(1);
    await says(stream, 'term');
    await clock.advance(5_000);
    expect((await exited(stream)).data).toEqual({ exit_code: null, signal: 'SIGKILL' });
    expect(await bench.until('session.ended')).toMatchObject({ reason: 'stopped', signal: 'SIGKILL' });
    expect(stream.frames.all.filter(({ data }) => data?.['text'] === 'int')).toHaveLength(1);
  });

  test('that the process heeds ends it with what it says', async () => {
    const { stream } = await startSession(graceful);
    await says(stream, 'up');
    stream.send(logEvent(1, 'control.stop', { force: false, deadline_ms: 10_000 }));
    expect((await exited(stream)).data).toEqual({ exit_code: 6, signal: null });
  });

  test('with force kills at once, after a graceful one, too', async () => {
    const { bench, stream } = await startSession(stubborn, { directory: '/' });
    await says(stream, 'up');
    stream.send(logEvent(1, 'control.stop', { force: false, deadline_ms: 10_000 }));
    await says(stream, 'int');
    stream.send(logEvent(2, 'control.stop', { force: true, deadline_ms: 0 }));
    expect(await bench.until('session.ended')).toMatchObject({ reason: 'stopped', signal: 'SIGKILL' });
    expect(new BridgeState(bench.stateDir, [service.url, '/', 'bench']).sessions).toEqual([]);
  });

  test('is heeded after frames that make no sense, which end nothing', async () => {
    const { stream } = await startSession(graceful);
    await says(stream, 'up');
    for (const frame of [
      { type: 'control.stop', session_id: 's', seq: 9 },
      { type: 'control.stop', session_id: 's', seq: 9, data: null },
      { type: 'control.stop', session_id: 's', seq: 'nine', data: {} },
      { type: 'resync_required' },
      { type: 'ack' },
      { type: 'token_expiring' },
      { type: 7 },
      {},
      [],
    ])
      stream.send(frame);
    stream.send(logEvent(1, 'control.stop', { force: false, deadline_ms: 10_000 }));
    expect((await exited(stream)).data).toEqual({ exit_code: 6, signal: null });
  });

  test('that waits in the log is heeded by a new stream', async () => {
    const { stream } = await startSession(graceful);
    await says(stream, 'up');
    service.backlog = [logEvent(1, 'control.stop', { force: false, deadline_ms: 10_000 })];
    stream.socket.terminate();
    const second = await service.streams.until(() => true, 2);
    expect((await exited(second)).data).toEqual({ exit_code: 6, signal: null });
  });
});

describe('control.interrupt', () => {
  test('is a SIGINT for a process whose input is closed', async () => {
    const { stream } = await startSession(stubborn);
    await says(stream, 'up');
    stream.send(logEvent(1, 'control.interrupt'));
    await says(stream, 'int');
  });

  test('from before the process began is none', async () => {
    service.backlog = [logEvent(1, 'control.interrupt')];
    const { stream } = await startSession('cat >/dev/null; exit 3');
    expect((await exited(stream)).data).toEqual({ exit_code: 3, signal: null });
  });

  test('is an event for one that reads its input', async () => {
    const { stream } = await startSession('read -r line; echo "$line"', { interactive: true });
    stream.send(logEvent(1, 'control.interrupt'));
    await stream.frames.until(
      ({ data, type }) =>
        type === 'control.interrupt' || String(data?.['text']).includes('control.interrupt'),
    );
  });
});

describe('the end of the bridge', () => {
  test('tells the service, ends children gracefully and waits until their end is known', async () => {
    const { bench, stream } = await startSession(graceful);
    await says(stream, 'up');
    expect(await bench.stop()).toEqual({ reason: 'stopped', killed: false });
    const stop = await service.called('stop');
    expect(stop).toMatchObject({
      path: `/v1/environments/env_1/work/${workOf('session_a')}/stop`,
      body: { force: false, reason: 'bridge_stopped' },
    });
    expect((await exited(stream)).data).toEqual({ exit_code: 6, signal: null });
    expect(service.countOf('unregister')).toBe(0);
    expect(bench.of('stopping')).toMatchObject([{ sessions: 1 }]);
  });

  test('releases the poll that is held, and leaves what still comes alone', async () => {
    const { bench } = await startSession('true');
    await bench.until('session.ended');
    await service.called('poll', 2);
    const stopped = bench.stop();
    service.grantSession('session_late');
    await stopped;
    expect(service.countOf('ack')).toBe(1);
  });

  test('is at most 14 s away, whatever the service does', async () => {
    const clock = new ManualClock();
    const directory = temporaryFolder();
    const { bench, stream } = await startSession(stubborn, { clock, directory });
    await says(stream, 'up');
    await service.crash();
    await bench.until('session.disconnected');
    bench.signal();
    while (bench.of('session.output').every((event) => event.text !== 'int'))
      await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(14_000);
    expect(await bench.result).toEqual({ reason: 'stopped', killed: false });
    expect(bench.of('session.ended')).toMatchObject([{ signal: 'SIGKILL' }]);
    await service.start();
    // The next start tells the service.
    const state = new BridgeState(bench.stateDir, [service.url, directory, 'bench']);
    expect(state.sessions).toMatchObject([{ session_id: 'session_a' }]);
  });

  test('by `kill`, insisted on, is not held up by output that nobody takes', async () => {
    service.acknowledges = false;
    const { bench, stream } = await startSession('yes "$(seq 1 100 | tr -d "\\n")"');
    const isFull = () =>
      stream.frames.all.reduce((sum, { data }) => sum + String(data?.['text']).length, 0) > 900_000;
    await stream.frames.until(isFull);
    bench.signal();
    bench.runtime.kill();
    bench.runtime.kill();
    expect(await bench.result).toEqual({ reason: 'stopped', killed: true });
  });

  test('by `kill`, insisted on, waits for nobody', async () => {
    service.acknowledges = false;
    const { bench } = await startSession(stubborn);
    await bench.until('session.output');
    bench.signal();
    await bench.until('session.output', 2);
    bench.runtime.kill();
    bench.runtime.kill();
    expect(await bench.result).toEqual({ reason: 'stopped', killed: true });
  });
});
