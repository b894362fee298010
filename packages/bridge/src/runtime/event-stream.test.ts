import { systemClock, type Clock } from '@sallyport/core';
import { ManualClock } from '@sallyport/core/testing';
import { describe, expect, test } from 'vitest';
import { logEvent, type FakeFrame } from './testing/fake-service.ts';
import { useBench } from './testing/use-bench.ts';

const { service, start } = useBench();

const nextEvents = (count = 1) => service.eventStreams.until(() => true, count);
/** What a proxy that knows no WebSockets makes of them. */
const broken = { status: 400, raw: '<html>' };

const unhurried = { fraction: () => 0.02, bytes: (length: number) => new Uint8Array(length) };

interface Posted {
  readonly events: readonly FakeFrame[];
  readonly ack?: number;
}
const posts = () =>
  service.calls.all.filter(({ route }) => route === 'events').map(({ body }) => body as Posted);
const typesOf = () => posts().flatMap(({ events }) => events.map(({ type }) => type));

function behindProxy(run: string, options: Partial<Parameters<typeof start>[0]> = {}) {
  service.script('stream', broken, broken);
  service.grantSession('session_a');
  return start({ ...options, run });
}

describe('where upgrades fail twice', () => {
  test('the stream comes as server-sent events, and what the worker says is posted', async () => {
    service.backlog = [logEvent(1, 'session.message', { text: 'hi' })];
    const bench = behindProxy('cat; echo out');
    const stream = await nextEvents();
    expect([stream.fromSeq, stream.token]).toEqual([0, 'jwt-1']);
    expect(await bench.until('session.ended')).toMatchObject({ reason: 'exited', exitCode: 0 });
    expect(typesOf()).toEqual(['worker.ready', 'session.message', 'session.output', 'worker.exited']);
    expect(posts().map(({ ack }) => ack)).toContain(1);
    expect(bench.of('session.disconnected')).toHaveLength(2);
  });

  test('the host is remembered: the next session asks for no upgrade', async () => {
    const bench = behindProxy('true');
    await bench.until('session.ended');
    service.grantSession('session_b');
    await bench.until('session.ended', 2);
    expect(service.streams.all).toEqual([]);
    expect(service.eventStreams.all).toHaveLength(2);
  });

  test('after a while the host gets one more chance, and events at once if it does not take it', async () => {
    let passed = 0;
    const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + passed };
    const bench = behindProxy('true', { clock });
    await bench.until('session.ended');
    passed = 10 * 60_000;
    service.script('stream', broken);
    service.grantSession('session_b');
    await bench.until('session.ended', 2);
    expect([service.streams.all.length, service.eventStreams.all.length]).toEqual([0, 2]);
    expect(bench.of('session.disconnected')).toHaveLength(3);
    passed += 10 * 60_000;
    service.grantSession('session_c');
    await bench.until('session.ended', 3);
    expect([service.streams.all.length, service.eventStreams.all.length]).toEqual([1, 2]);
  });

  test('because the service is away, it comes back with WebSockets', async () => {
    const away = { status: 502, raw: '<html>' };
    service.script('stream', away, away, away);
    service.grantSession('session_a');
    const bench = start({ run: 'true' });
    await bench.until('session.ended');
    expect(service.eventStreams.all).toEqual([]);
    expect(service.streams.all).toHaveLength(1);
  });

  test('because nobody is there at all, it comes back with WebSockets', async () => {
    service.grantSession('session_a');
    const bench = start({ run: 'read -r line', interactive: true, random: unhurried });
    await service.streams.until(() => true);
    await service.crash();
    await bench.until('session.disconnected', 3);
    service.backlog = [logEvent(1, 'control.input', { text: 'x' })];
    await service.start();
    await bench.until('session.ended');
    expect(service.eventStreams.all).toEqual([]);
  });

  test("the service's own refusals are none of a proxy's", async () => {
    const draining = { status: 503, body: { error: 'draining' } };
    service.script('stream', draining, draining, draining, draining);
    service.grantSession('session_a');
    const bench = start({ run: 'true' });
    await bench.until('session.ended');
    expect(service.eventStreams.all).toEqual([]);
  });
});

describe('a stream of server-sent events', () => {
  const interactive = { interactive: true };
  const echo = `while read -r line; do echo "$line" | sed 's/.*"text":"\\([^"]*\\)".*/\\1/'; done`;
  const input = (seq: number, text: string) => logEvent(seq, 'control.input', { text });
  const says = async (text: string) => {
    await service.calls.until(({ body }) =>
      Boolean((body as Partial<Posted> | undefined)?.events?.some(({ data }) => data?.['text'] === text)),
    );
  };

  test('that breaks is resumed after what was taken, and what was not acknowledged is posted again', async () => {
    const bench = behindProxy(echo, interactive);
    const first = await nextEvents();
    first.send(input(1, 'a'));
    await says('a');
    service.script('events', { reset: true });
    first.send(input(2, 'b'));
    const second = await nextEvents(2);
    expect(second.fromSeq).toBe(2);
    second.send(input(2, 'b'));
    second.send(input(3, 'c'));
    await says('c');
    const texts = bench.of('session.output').map(({ text }) => text);
    expect(texts).toEqual(['a', 'b', 'c']);
    // `ack` and `b` may go out in one post or in two; each event arrives.
    expect(new Set(posts().flatMap(({ events }) => events.map(({ data }) => data?.['text'])))).toEqual(
      new Set([undefined, 'a', 'b', 'c']),
    );
  });

  test('is a sign of life each 20 s, and is given up after a minute without a word', async () => {
    const clock = new ManualClock();
    behindProxy('sleep 1000', { clock, ...interactive });
    const first = await nextEvents();
    await service.calls.until(({ route }) => route === 'events');
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    for (let turns = 0; turns < 50; turns += 1) await turn();
    const before = posts().length;
    await clock.advance(20_000);
    await service.called('events', before + 1);
    expect(posts().at(-1)).toEqual({ events: [] });
    first.comment();
    for (let turns = 0; turns < 50; turns += 1) await turn();
    await clock.advance(59_000);
    expect(service.eventStreams.all).toHaveLength(1);
    await clock.advance(1_000);
    await nextEvents(2);
  });

  test('is a sign of life while a slow line is long about a post, too', async () => {
    const clock = new ManualClock();
    const posted = Promise.withResolvers<undefined>();
    service.script('events', { after: posted.promise });
    const bench = behindProxy('sleep 1000', { clock, ...interactive });
    await nextEvents();
    await service.called('events', 1);
    // The service ends a stream whose worker was silent for 45 s, and the post may take longer than that.
    for (const beats of [1, 2]) {
      await clock.advance(20_000);
      await service.called('events', 1 + beats);
      expect(posts().at(-1)).toEqual({ events: [] });
    }
    posted.resolve(undefined);
    expect(bench.of('session.disconnected')).toHaveLength(2); // those that led here
  });

  test.each([
    [4410, 'session_ended'],
    [4090, 'superseded'],
  ])('that the service closes with %d means what it means for a WebSocket', async (code, reason) => {
    service.script('ack', {}, { status: 409, body: { error: 'ack_already_processed', yours: false } });
    const bench = behindProxy('sleep 1000');
    const stream = await nextEvents();
    await bench.until('session.started');
    stream.send({ type: 'close', code, reason: '' });
    expect(await bench.until('session.ended')).toMatchObject({ reason, signal: 'SIGKILL' });
  });

  test('whose post is refused because the token expired takes new credentials', async () => {
    const bench = behindProxy(echo, interactive);
    const stream = await nextEvents();
    await bench.until('session.started');
    service.script('events', { status: 401, body: { error: 'invalid_token' } });
    stream.send(input(1, 'a'));
    await nextEvents(2);
    await says('a');
    expect(service.countOf('handshake')).toBe(2);
  });

  test('whose post a portal answers with a page of its own is opened again', async () => {
    const bench = behindProxy(echo, interactive);
    const stream = await nextEvents();
    await bench.until('session.started');
    service.script('events', { status: 404, raw: '<html>Sign in to the hotel</html>' });
    stream.send(input(1, 'a'));
    await nextEvents(2);
    await says('a');
    expect(bench.of('session.ended')).toEqual([]);
  });

  test('carries much output in posts of a bounded size', async () => {
    const bench = behindProxy('seq -f %01000.0f 1 3000');
    await bench.until('session.ended');
    const sizes = posts().map((post) => JSON.stringify(post).length);
    expect(Math.max(...sizes)).toBeLessThan(1024 * 1024);
    const lines = posts()
      .flatMap(({ events }) => events.filter(({ type }) => type === 'session.output'))
      .flatMap(({ data }) => String(data?.['text']).split('\n'));
    expect(lines.map(Number)).toEqual(Array.from({ length: 3000 }, (_, index) => index + 1));
  });
});
