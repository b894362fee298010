import { ManualClock } from '@sallyport/core/testing';
import { describe, expect, test } from 'vitest';
import { logEvent, type FakeFrame, type FakeStream } from './testing/fake-service.ts';
import { useBench } from './testing/use-bench.ts';

const { service, start, startSession } = useBench();

const textsOf = ({ frames }: FakeStream) =>
  frames.all.filter(({ type }) => type === 'session.output').map(({ data }) => data?.['text']);
const says = (stream: FakeStream, text: string) => stream.frames.until(({ data }) => data?.['text'] === text);
const input = (seq: number, text: string) => logEvent(seq, 'control.input', { text });
const nextStream = (count: number) => service.streams.until(() => true, count);
const acknowledge = ({ send }: FakeStream, { id }: FakeFrame) => send({ type: 'ack', id, seq: 1 });

/** Answers each line of its input by the text in it. */
const echo = `while read -r line; do echo "$line" | sed 's/.*"text":"\\([^"]*\\)".*/\\1/'; done`;

describe('a stream that breaks', () => {
  test('is resumed: what was not acknowledged comes again, nothing else does, in both directions', async () => {
    service.acknowledges = false;
    const { bench, stream } = await startSession(echo, { interactive: true });
    stream.send(input(1, 'a'));
    stream.send(input(2, 'b'));
    acknowledge(stream, await stream.frames.until(({ type }) => type === 'worker.ready'));
    acknowledge(stream, await says(stream, 'a'));
    await says(stream, 'b');
    await stream.frames.until(({ type, seq }) => type === 'ack' && seq === 2);
    // The acknowledgements above are in the same order as this, so they are through when it is answered.
    stream.send({ type: 'token_expiring', expires_at: '' });
    await stream.frames.until(({ type }) => type === 'auth');
    stream.socket.terminate();

    service.acknowledges = true;
    const second = await nextStream(2);
    expect(second.fromSeq).toBe(2);
    second.send(input(2, 'b'));
    second.send(input(3, 'c'));
    await says(second, 'c');
    expect(textsOf(second)).toEqual(['b', 'c']);
    expect(bench.of('session.disconnected')).toHaveLength(1);
  });

  test('by a service that was killed: the process goes on, and all of its output arrives once', async () => {
    service.acknowledges = false;
    const { bench, stream } = await startSession('seq 1 200; read line; seq 201 400', { interactive: true });
    await says(stream, '200');
    await service.crash();
    await bench.until('session.disconnected');
    service.acknowledges = true;
    await service.start();
    const second = await nextStream(2);
    second.send(input(1, 'go'));
    await bench.until('session.ended');
    const ids = new Set(second.frames.all.filter(({ id }) => id !== undefined).map(({ id }) => id));
    expect(textsOf(second)).toEqual(Array.from({ length: 400 }, (_, index) => String(index + 1)));
    expect(ids.size).toBe(402); // with `worker.ready` and `worker.exited`
  });

  test('keeps the slot until the service has heard of the end', async () => {
    service.acknowledges = false;
    const { bench, stream } = await startSession('exit 5', { maxSessions: 1 });
    await stream.frames.until(({ type }) => type === 'worker.exited');
    stream.socket.terminate();
    const second = await nextStream(2);
    const exited = await second.frames.until(({ type }) => type === 'worker.exited');
    expect(bench.of('session.ended')).toEqual([]);
    acknowledge(second, exited);
    expect(await bench.until('session.ended')).toMatchObject({ exitCode: 5 });
  });

  test('is kept alive by the bridge, which speaks every 20 s', async () => {
    const clock = new ManualClock();
    const { stream } = await startSession('sleep 1000', { clock });
    await stream.frames.until(({ type }) => type === 'worker.ready');
    for (const count of [1, 2, 3, 4]) {
      await clock.advance(20_000);
      await stream.frames.until(({ type }) => type === 'worker.heartbeat', count);
    }
    expect(service.streams.all).toHaveLength(1);
  });

  test('because nothing was heard for a minute is opened again', async () => {
    const clock = new ManualClock();
    const { stream } = await startSession('sleep 1000', { clock });
    service.acknowledges = false;
    stream.send({ type: 'token_expiring', expires_at: '' });
    await stream.frames.until(({ type }) => type === 'auth'); // so all earlier frames have been heard
    stream.socket.pause(); // pongs included
    await clock.advance(59_000);
    expect(service.streams.all).toHaveLength(1);
    await clock.advance(1_000);
    await nextStream(2);
    stream.socket.resume();
  });

  test('by a draining service is opened again when that says', async () => {
    const { bench, stream } = await startSession('sleep 1000');
    stream.send({ type: 'draining', reconnect_in_ms: 12 });
    stream.socket.close(1012);
    expect(await bench.until('session.disconnected')).toMatchObject({ retryInMs: 12 });
    await nextStream(2);
    expect(service.countOf('handshake')).toBe(1);
  });
});

describe('a token', () => {
  test('that expires is renewed on the open stream, under the same epoch', async () => {
    const { stream } = await startSession('sleep 1000');
    stream.send({ type: 'token_expiring', expires_at: '2026-01-01T00:00:00Z' });
    expect(await stream.frames.until(({ type }) => type === 'auth')).toEqual({
      type: 'auth',
      token: 'jwt-1',
    });
    expect((await service.called('handshake', 2)).headers['x-worker-token']).toBe('jwt-1');
    expect(service.streams.all).toHaveLength(1);
  });

  test.each([4401, 'upgrade'])('that expired is replaced (%s)', async (how) => {
    const { stream } = await startSession('sleep 1000');
    if (how === 'upgrade') {
      service.script('stream', { status: 401, body: { error: 'invalid_token' } });
      stream.socket.terminate();
    } else stream.socket.close(4401);
    await nextStream(2);
    expect(service.countOf('handshake')).toBe(2);
    expect(service.countOf('ack')).toBe(1);
  });
});

describe('a worker that was superseded', () => {
  const conflict = (details: object) => ({
    status: 409,
    body: { error: 'ack_already_processed', ...details },
  });

  test.each([4090, 4403, 'upgrade'])('takes over again when the work is still its own (%s)', async (how) => {
    service.script('ack', {}, conflict({ yours: true, state: 'active' }));
    const { bench, stream } = await startSession('sleep 1000');
    if (how === 'upgrade') {
      service.script('stream', { status: 409, body: { error: 'stale_epoch' } });
      stream.socket.terminate();
    } else stream.socket.close(Number(how));
    await nextStream(2);
    expect(bench.of('session.ended')).toEqual([]);
  });

  test('does not fight: the second time it gives in', async () => {
    const { bench, stream } = await startSession('sleep 1000');
    stream.socket.close(4090);
    (await nextStream(2)).socket.close(4090);
    expect(await bench.until('session.ended')).toMatchObject({ reason: 'superseded', signal: 'SIGKILL' });
  });

  test.each([
    ['another has the work', 4090, conflict({ yours: false }), 'superseded'],
    ['the work was stopped', 4403, conflict({ yours: true, state: 'stopped' }), 'session_ended'],
    ['the session is gone', 4410, {}, 'session_ended'],
  ])('kills its process when %s', async (_, code, answer, reason) => {
    service.script('ack', {}, answer);
    const { bench, stream } = await startSession('sleep 1000');
    stream.socket.close(code);
    expect(await bench.until('session.ended')).toMatchObject({ reason, signal: 'SIGKILL' });
    expect(service.streams.all).toHaveLength(1);
  });

  test('starts nothing for a session that is over before its handshake', async () => {
    service.script('handshake', { status: 500 }, { status: 409, body: { error: 'session_ended' } });
    service.grantSession('session_a');
    const bench = start({ run: 'true' });
    expect(await bench.until('session.ended')).toMatchObject({ reason: 'session_ended', exitCode: null });
    expect(bench.of('session.started')).toEqual([]);
    expect(service.countOf('worker')).toBe(0);
  });
});

describe('after the machine slept', () => {
  test('the stream is opened anew; after a long sleep only once the work is known to be still ours', async () => {
    const clock = new ManualClock();
    await startSession('sleep 1000', { clock });
    clock.jump(30_000);
    await clock.advance(5_000);
    await nextStream(2);
    expect(service.countOf('ack')).toBe(1);
    clock.jump(300_000);
    await clock.advance(5_000);
    await nextStream(3);
    expect(service.countOf('ack')).toBe(2);
    expect(service.countOf('handshake')).toBe(2);
  });
});

describe('output that the service does not take', () => {
  test('stays in the process, beyond 1 MiB; none is lost', async () => {
    service.acknowledges = false;
    const lines = 3_000;
    const { bench, stream } = await startSession(`seq -f '%01000.0f' 1 ${lines}`);
    const bytes = () => stream.frames.all.reduce((sum, frame) => sum + JSON.stringify(frame).length, 0);
    await stream.frames.until(() => true, 900);
    while (bytes() < 1024 * 1024) await new Promise((resolve) => setImmediate(resolve));
    for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(bytes()).toBeLessThan(1024 * 1024 + 200 * 1024);
    service.acknowledges = true;
    for (const frame of [...stream.frames.all]) if (frame.id !== undefined) acknowledge(stream, frame);
    await bench.until('session.ended');
    expect(textsOf(stream).map(Number)).toEqual(Array.from({ length: lines }, (_, index) => index + 1));
  });
});
