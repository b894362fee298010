import { ManualClock } from '@sallyport/core/testing';
import { describe, expect, test } from 'vitest';
import { logEvent, type FakeFrame, type FakeStream } from './testing/fake-service.ts';
import { useBench } from './testing/use-bench.ts';

const { service, start, startSession } = useBench();

const textsOf = ({ frames }: FakeStream) =>
  frames.all
    .filter(({ type }) => type === 'session.output')
    .flatMap(({ data }) => String(data?.['text']).split('\n'));
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
    acknowledge(stream, await stream.frames.until(({ type }) => type === 'worker.ready'));
    acknowledge(stream, await says(stream, 'a'));
    stream.send(input(2, 'b'));
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
    const { bench } = await startSession('seq 1 200; read line; seq 201 400', { interactive: true });
    await bench.until('session.output', 200);
    await service.crash();
    await bench.until('session.disconnected');
    service.acknowledges = true;
    await service.start();
    const second = await nextStream(2);
    second.send(input(1, 'go'));
    await bench.until('session.ended');
    const ids = second.frames.all.filter(({ id }) => id !== undefined).map(({ id }) => id);
    expect(textsOf(second)).toEqual(Array.from({ length: 400 }, (_, index) => String(index + 1)));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('keeps the slot until the service has heard of the end', async () => {
    service.acknowledges = false;
    const { bench, stream } = await startSession('exit 5', { maxSessions: 1 });
    await stream.frames.until(({ type }) => type === 'worker.exited');
    stream.socket.terminate();
    const second = await nextStream(2);
    acknowledge(second, await second.frames.until(({ type }) => type === 'worker.ready'));
    const exited = await second.frames.until(({ type }) => type === 'worker.exited');
    expect(bench.of('session.ended')).toEqual([]);
    acknowledge(second, exited);
    expect(await bench.until('session.ended')).toMatchObject({ exitCode: 5 });
  });

  test('does not keep the slot for longer than 30 s after the end', async () => {
    service.acknowledges = false;
    const clock = new ManualClock();
    const { stream } = await startSession('exit 5', { maxSessions: 1, clock });
    await stream.frames.until(({ type }) => type === 'worker.exited');
    expect((await service.called('poll', 2)).query.get('capacity')).toBe('0');
    await clock.advance(29_000);
    expect(service.countOf('poll')).toBe(2);
    await clock.advance(1_000);
    expect((await service.called('poll', 3)).query.get('capacity')).toBeNull();
  });

  test.each([401, 403, 404])('outlives a portal that answers %i with pages of its own', async (status) => {
    const { bench, stream } = await startSession('sleep 1000');
    const page = { status, raw: '<html>Sign in to the hotel</html>' };
    service.script('handshake', page);
    service.script('stream', page);
    stream.socket.close(4401);
    await nextStream(2);
    expect(service.countOf('handshake')).toBe(3);
    expect(bench.of('session.ended')).toEqual([]);
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
  const renewed = (name: string) => ({
    body: { worker_jwt: name, api_base_url: service.url, worker_epoch: 1 },
  });
  const expiring = { type: 'token_expiring', expires_at: '2026-01-01T00:00:00Z' };
  const authentications = ({ frames }: FakeStream) => frames.all.filter(({ type }) => type === 'auth');
  const proofs = () =>
    service.calls.all
      .filter(({ route }) => route === 'handshake')
      .map(({ headers }) => headers['x-worker-token']);

  test('that expires is renewed on the open stream, with proof of the one before, and serves from then on', async () => {
    const { stream } = await startSession('sleep 1000', { deriveIngressToken: (jwt) => `ingress-${jwt}` });
    service.script('handshake', renewed('jwt-b'), renewed('jwt-c'));
    stream.send(expiring);
    expect(await stream.frames.until(({ type }) => type === 'auth')).toEqual({
      type: 'auth',
      token: 'ingress-jwt-b',
    });
    stream.send(expiring);
    await stream.frames.until(({ type }) => type === 'auth', 2);
    expect(proofs()).toEqual([undefined, 'jwt-1', 'jwt-b']);
    expect(service.streams.all).toHaveLength(1);
    stream.socket.terminate();
    expect((await nextStream(2)).token).toBe('ingress-jwt-c');
    expect([service.countOf('handshake'), service.countOf('worker')]).toEqual([3, 1]);
  });

  test('that could not be renewed is replaced when it has expired, with proof of it', async () => {
    const { stream } = await startSession('sleep 1000');
    const unavailable = { status: 400, body: { error: 'invalid_request' } };
    service.script('handshake', unavailable, renewed('jwt-b'));
    stream.send(expiring);
    await service.called('handshake', 2);
    stream.socket.close(4401);
    expect((await nextStream(2)).token).toBe('jwt-b');
    expect(authentications(stream)).toEqual([]);
    expect(proofs()).toEqual([undefined, 'jwt-1', 'jwt-1']);
  });

  test('whose renewal comes after the stream it was for is not used', async () => {
    const { stream } = await startSession('sleep 1000');
    const { promise: after, resolve: answer } = Promise.withResolvers<undefined>();
    service.script('handshake', { ...renewed('jwt-late'), after });
    stream.send(expiring);
    await service.called('handshake', 2);
    stream.socket.terminate();
    const second = await nextStream(2);
    answer(undefined);
    expect(second.token).toBe('jwt-1');
    second.send(expiring);
    await second.frames.until(({ type }) => type === 'auth');
    expect(proofs()).toEqual([undefined, 'jwt-1', 'jwt-1']);
    expect(authentications(stream)).toEqual([]);
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
    expect(bench.of('session.disconnected')).toEqual([]); // it says that the process goes on
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
    expect(service.countOf('handshake')).toBe(1);
    clock.jump(300_000);
    await clock.advance(5_000);
    await nextStream(3);
    expect(service.countOf('ack')).toBe(2);
    expect(service.countOf('handshake')).toBe(2);
    // Its work, lost meanwhile, is not to be granted anew.
    const polls = service.calls.all.filter(({ route }) => route === 'poll');
    expect(polls.filter(({ query }) => query.get('capacity') === '0')).toHaveLength(2);
  });

  test('a sleep shorter than the lease changes nothing about what is under way', async () => {
    const clock = new ManualClock();
    const { bench, stream } = await startSession('sleep 1000', { clock });
    const { promise: after, resolve: answer } = Promise.withResolvers<undefined>();
    service.script('handshake', { after, status: 404, body: { error: 'not_found' } });
    stream.socket.close(4401);
    await service.called('handshake', 2);
    clock.jump(30_000);
    await clock.advance(5_000);
    answer(undefined);
    expect(await bench.until('session.ended')).toMatchObject({ reason: 'session_ended' });
    expect(service.countOf('handshake')).toBe(2);
  });
});

describe('output that the service does not take', () => {
  test('stays in the process, beyond 1 MiB; none is lost', async () => {
    service.acknowledges = false;
    const lines = 3_000;
    const { bench, stream } = await startSession(`seq -f '%01000.0f' 1 ${lines}`);
    const bytes = () => stream.frames.all.reduce((sum, frame) => sum + JSON.stringify(frame).length, 0);
    while (bytes() < (1024 - 64) * 1024) await new Promise((resolve) => setImmediate(resolve));
    for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(bytes()).toBeLessThan(1024 * 1024 + 200 * 1024);
    service.acknowledges = true;
    for (const frame of [...stream.frames.all]) if (frame.id !== undefined) acknowledge(stream, frame);
    await bench.until('session.ended');
    expect(textsOf(stream).map(Number)).toEqual(Array.from({ length: lines }, (_, index) => index + 1));
  });

  test('line by line shares events, because the service counts those; it reads the same', async () => {
    const lines = 20_000;
    const { bench, stream } = await startSession(`seq 1 ${lines}; echo oh >&2; printf 'no newline'`);
    await bench.until('session.ended');
    const events = stream.frames.all.filter(({ type }) => type === 'session.output');
    expect(events.length).toBeLessThan(lines / 50);
    // As a reader prints it.
    const printed = (name: string) =>
      events
        .filter(({ data }) => data?.['stream'] === name)
        .map(({ data }) => `${String(data?.['text'])}\n`)
        .join('');
    const numbers = Array.from({ length: lines }, (_, index) => `${index + 1}\n`).join('');
    expect(printed('stdout')).toBe(`${numbers}no newline\n`);
    expect(printed('stderr')).toBe('oh\n');
    // Whoever embeds the runtime is told at once, line by line.
    expect(bench.of('session.output')).toHaveLength(lines + 2);
  });
});
