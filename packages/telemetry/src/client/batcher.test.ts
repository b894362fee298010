import type { Transport } from '@sallyport/core/client';
import { freePort, seededRandom } from '@sallyport/core/testing';
import { describe, expect, test } from 'vitest';
import { emit, makeBatcher, names, scratch } from '../../test/batcher.ts';
import { attributeOf, malformed, namesOf, startSink, statuses } from '../../test/sink.ts';
import { openSpool } from '../spool/spool.ts';
import type { TelemetryBatcher } from './batcher.ts';

describe('when events are sent', () => {
  test('at 50, without waiting, in the form of the contract', async () => {
    const sink = await startSink();
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl });
    emit(batcher, 50);
    await sink.reached(1);
    const { headers, events } = sink.requests[0]!;
    expect(headers).toMatchObject({
      authorization: 'Bearer token',
      'x-service-name': 'agent_desktop',
      'content-type': 'application/json',
      'idempotency-key': expect.stringMatching(/^[\w-]{43,80}$/) as string,
    });
    expect(namesOf(sink.requests[0]!)).toEqual(names(50));
    expect(attributeOf(events[0]!, 'service.version')).toBe('1.2.3');
  });

  test('60 s after the first, give or take a tenth', async () => {
    const sink = await startSink();
    const { batcher, clock } = makeBatcher({ baseUrl: sink.baseUrl });
    emit(batcher, 1);
    await clock.advance(30_000);
    emit(batcher, 1, 1);
    await clock.advance(23_900);
    expect(sink.requests).toHaveLength(0);
    await clock.advance(12_200);
    await sink.reached(1);
    expect(sink.names()).toEqual(names(2));
  });

  test.each([
    [0, 54_000],
    [0.5, 60_000],
    [0.999, 65_988],
  ])('programs that started together do not come back together (chance %d: %i ms)', async (chance, ms) => {
    const sink = await startSink();
    const random = { ...seededRandom(), fraction: () => chance };
    const { batcher, clock } = makeBatcher({ baseUrl: sink.baseUrl, random });
    emit(batcher, 1);
    await clock.advance(ms - 1);
    expect(clock.timers).toBe(1);
    await clock.advance(1);
    await sink.reached(1);
  });

  test('never more than 50 in a request, one request at a time, in order', async () => {
    let open = 0;
    const sink = await startSink(async () => {
      open += 1;
      expect(open).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return { status: 200 };
    });
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl });
    emit(batcher, 170);
    expect(await batcher.flush()).toEqual({ sent: 170, spooled: 0, dropped: 0, waiting: 0 });
    expect(sink.names()).toEqual(names(170));
    expect(Math.max(...sink.requests.map(({ events }) => events.length))).toBe(50);
  });

  test('the next request is written while the service is at work on the one before', async () => {
    const held = Promise.withResolvers<undefined>();
    const written = Promise.withResolvers<undefined>();
    const sink = await startSink(async (_, index) => {
      if (index === 1) await held.promise;
      return { status: 200 };
    });
    const text = (value: string) => {
      if (value === 'e149') written.resolve(undefined);
      return value;
    };
    const { batcher } = makeBatcher({
      baseUrl: sink.baseUrl,
      redactor: { text, isSecret: () => false },
    });
    emit(batcher, 150);
    await written.promise;
    expect(batcher.stats()).toMatchObject({ sent: 50, waiting: 100 });
    held.resolve(undefined);
    await batcher.flush();
    expect(sink.names()).toEqual(names(150));
  });

  test('requests stay below 900 KiB', async () => {
    const sink = await startSink();
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl });
    for (let index = 0; index < 40; index += 1) batcher.emit({ name: 'big', body: 'x'.repeat(60_000) });
    expect(await batcher.flush()).toMatchObject({ sent: 40 });
    expect(Math.max(...sink.requests.map(({ text }) => text.length))).toBeLessThanOrEqual(900 * 1024);
    expect(sink.requests.length).toBe(3);
  });
});

describe('what is sent', () => {
  test('only the attributes that are allowed, simple or not', async () => {
    const sink = await startSink();
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl, allowAttributes: ['tool.*', 'count'] });
    const attributes = { 'tool.name': 'read', count: 1, other: 'o', toolbox: 't' };
    batcher.emit({ name: 'x', attributes });
    batcher.emit({ name: 'x', attributes: { ...attributes, nested: [1], 'tool.args': ['a'] } });
    await batcher.flush();
    const own = ['event.name', 'event.id', 'service.name', 'service.version', 'os.type'];
    expect(sink.requests[0]!.events.map((event) => event.attributes.map(({ key }) => key))).toEqual([
      [...own, 'tool.name', 'count'],
      [...own, 'tool.name', 'count', 'tool.args'],
    ]);
  });

  test('a part of the events of a name: whole sessions, and every error', async () => {
    const sink = await startSink();
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl, sampling: { tick: 0.25, '*': 0 } });
    for (let session = 0; session < 400; session += 1)
      for (let index = 0; index < 2; index += 1)
        batcher.emit({ name: 'tick', attributes: { 'session.id': `session_${session}` } });
    for (let index = 0; index < 8; index += 1) batcher.emit({ name: 'tick' });
    batcher.emit({ name: 'other' });
    batcher.emit({ name: 'other', severityNumber: 17 });
    await batcher.flush();
    const events = sink.requests.flatMap((request) => request.events);
    const sessions = events.map((event) => attributeOf(event, 'session.id')).filter(Boolean);
    expect(sessions.length).toBe(new Set(sessions).size * 2);
    expect(new Set(sessions).size).toBeGreaterThan(70);
    expect(new Set(sessions).size).toBeLessThan(130);
    expect(events.length - sessions.length).toBe(2 + 1);
    expect(batcher.stats()).toMatchObject({
      sent: events.length,
      sampledOut: 810 - events.length,
      dropped: {},
    });
  });

  test('when, by the clock of this machine', async () => {
    const sink = await startSink();
    const { batcher, clock } = makeBatcher({ baseUrl: sink.baseUrl });
    emit(batcher, 1);
    const emitted = clock.now();
    await clock.advance(1000);
    await batcher.flush();
    expect(sink.requests[0]!.headers['x-sent-at']).toBe(String(emitted + 1000));
    expect(sink.requests[0]!.events[0]!.timeUnixNano).toBe(`${emitted}000000`);
  });
});

describe('flush and shutdown', () => {
  test('parallel flushes all wait for what was emitted before them', async () => {
    const sink = await startSink();
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl, flushIntervalMs: 1 });
    const flushes: Promise<void>[] = [];
    for (let index = 0; index < 5; index += 1) {
      emit(batcher, 1, index);
      flushes.push(
        batcher.flush().then(() => expect(sink.names()).toEqual(expect.arrayContaining(names(index + 1)))),
      );
    }
    await Promise.all(flushes);
    expect(sink.names()).toEqual(names(5));
  });

  test('shutdown sends the rest, is idempotent, and closes', async () => {
    const sink = await startSink();
    const { batcher, clock } = makeBatcher({ baseUrl: sink.baseUrl });
    emit(batcher, 3);
    const [first, second] = await Promise.all([batcher.shutdown(), batcher.shutdown()]);
    expect(first).toEqual({ sent: 3, spooled: 0, dropped: 0, waiting: 0 });
    expect(second).toBe(first);
    emit(batcher, 2);
    expect(batcher.stats()).toMatchObject({ waiting: 0, dropped: { closed: 2 } });
    expect(clock.timers).toBe(0);
  });

  test('shutdown ends at its deadline; what is on its way goes to the spool and is repeated word for word', async () => {
    const sink = await startSink(() => 'hang');
    const { spoolDir } = scratch();
    const { batcher, clock } = makeBatcher({ baseUrl: sink.baseUrl, spoolDir });
    emit(batcher, 2);
    const ended = batcher.shutdown();
    await sink.reached(1);
    await clock.advance(1500);
    expect(await ended).toEqual({ sent: 0, spooled: 2, dropped: 0, waiting: 0 });

    sink.script = () => ({ status: 200 });
    const next = makeBatcher({ baseUrl: sink.baseUrl, spoolDir });
    await next.batcher.flush();
    expect(sink.requests[1]).toMatchObject({
      text: sink.requests[0]!.text,
      headers: { 'idempotency-key': sink.requests[0]!.headers['idempotency-key'] },
    });
  });

  test('shutdown does not wait for its own back-off, and tries once more', async () => {
    const sink = await startSink(statuses(503, 200));
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl });
    emit(batcher, 2);
    expect(await batcher.flush()).toMatchObject({ sent: 0, waiting: 2 });
    expect(await batcher.shutdown()).toEqual({ sent: 2, spooled: 0, dropped: 0, waiting: 0 });
    expect(sink.requests[1]!.text).toBe(sink.requests[0]!.text);
  });

  test.each([
    ['a shutdown', 1500],
    ['the end of a program that ends by itself', 1000],
  ])('%s breaks off after %i ms', async (kind, ms) => {
    const isShutdown = kind === 'a shutdown';
    let broken: AbortSignal | undefined;
    const transport: Transport = {
      send({ signal }) {
        broken = signal;
        return new Promise((_, reject) =>
          signal?.addEventListener('abort', () => reject(new Error('broken off'))),
        );
      },
      close: () => Promise.resolve(),
    };
    const { spoolDir } = scratch();
    const before = new Set(process.listeners('beforeExit'));
    const { batcher, clock } = makeBatcher({
      baseUrl: 'http://127.0.0.1:9',
      transport,
      spoolDir,
      installExitHandlers: !isShutdown,
    });
    emit(batcher, 1);
    const [runDry] = process.listeners('beforeExit').filter((listener) => !before.has(listener));
    const ended = isShutdown ? batcher.shutdown() : runDry?.(0);
    await clock.advance(ms - 1);
    expect(broken?.aborted).toBe(false);
    await clock.advance(1);
    expect(broken?.aborted).toBe(true);
    await ended;
    await batcher.shutdown();
    expect(batcher.stats()).toMatchObject({ spooled: 1, waiting: 0 });
    expect(process.listeners('beforeExit').every((listener) => before.has(listener))).toBe(true);
  });

  test('a pause that the service asked for is not waited for at shutdown, nor cut short', async () => {
    const sink = await startSink(() => ({ status: 503, headers: { 'retry-after': '3600' } }));
    const { spoolDir } = scratch();
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl, spoolDir });
    emit(batcher, 1);
    expect(await batcher.flush()).toMatchObject({ sent: 0, waiting: 1 });
    expect(await batcher.shutdown()).toEqual({ sent: 0, spooled: 1, dropped: 0, waiting: 0 });
    expect(sink.requests).toHaveLength(1);
  });

  test('of a segment whose sender was killed no more is sent again than the request that was on its way', async () => {
    const sink = await startSink((_, index) => {
      if (index === 3) return 'hang';
      return index > 0 ? { status: 200 } : { status: 400, body: malformed(3) };
    });
    const { spoolDir } = scratch();
    const killed = makeBatcher({ baseUrl: sink.baseUrl, spoolDir });
    const lines = names(170).map((name) =>
      JSON.stringify({ attributes: [{ key: 'event.name', value: { stringValue: name } }] }),
    );
    openSpool({ directory: spoolDir, clock: killed.clock }).append(lines);
    void killed.batcher.flush();
    await sink.reached(4);
    const [onItsWay] = sink.requests.slice(3);

    sink.script = () => ({ status: 200 });
    const next = makeBatcher({ baseUrl: sink.baseUrl, spoolDir });
    await next.clock.advance(120_000);
    expect(await next.batcher.flush()).toMatchObject({ sent: 70 });
    const again = sink.requests.slice(4);
    expect(again.map(namesOf)).toEqual([names(50, 100), names(20, 150)]);
    expect(again[0]?.headers['idempotency-key']).toBe(onItsWay?.headers['idempotency-key']);
    expect(openSpool({ directory: spoolDir, clock: next.clock }).peek()).toEqual([]);
  });

  test('what other processes spool meanwhile is looked for once a minute', async () => {
    const sink = await startSink();
    const { spoolDir } = scratch();
    const { batcher, clock } = makeBatcher({ baseUrl: sink.baseUrl, spoolDir });
    await batcher.flush();
    openSpool({ directory: spoolDir, clock }).append(['{"attributes":[]}']);
    expect(await batcher.flush()).toMatchObject({ sent: 0 });
    await clock.advance(60_000);
    expect(await batcher.flush()).toMatchObject({ sent: 1 });
  });

  test('a segment whose sender is slow, but lives, is left to it', async () => {
    let answer = Promise.withResolvers<{ status: number }>();
    const sink = await startSink(() => answer.promise);
    const { spoolDir } = scratch();
    const { batcher, clock } = makeBatcher({ baseUrl: sink.baseUrl, spoolDir });
    openSpool({ directory: spoolDir, clock }).append(Array.from({ length: 150 }, () => '{"attributes":[]}'));
    const slow = batcher.flush();
    for (const request of [1, 2, 3]) {
      await sink.reached(request);
      await clock.advance(100_000);
      expect(await makeBatcher({ baseUrl: sink.baseUrl, spoolDir, clock }).batcher.flush()).toMatchObject({
        sent: 0,
      });
      const { resolve } = answer;
      answer = Promise.withResolvers();
      resolve({ status: 200 });
    }
    expect(await slow).toMatchObject({ sent: 150 });
    expect(sink.requests).toHaveLength(3);
  });

  test('without a spool the loss is counted', async () => {
    const { batcher } = makeBatcher({ baseUrl: `http://127.0.0.1:${await freePort()}` });
    emit(batcher, 2);
    expect(await batcher.shutdown()).toEqual({ sent: 0, spooled: 0, dropped: 2, waiting: 0 });
    expect(batcher.stats().dropped).toEqual({ unsent: 2 });
  });
});

test('it never reports on itself: what its own requests emit is not taken', async () => {
  const sink = await startSink(statuses(500, 500, 200));
  const reporters: TelemetryBatcher[] = [];
  const { batcher, clock } = makeBatcher({
    baseUrl: sink.baseUrl,
    tokens: {
      token() {
        for (const each of reporters) each.report({ name: 'token.asked' });
        return Promise.resolve('token');
      },
    },
  });
  reporters.push(batcher);
  emit(batcher, 1);
  await batcher.flush();
  for (const request of [2, 3]) {
    await clock.advance(60_000);
    await sink.reached(request);
  }
  await batcher.flush();
  expect(sink.names()).toEqual(['e0', 'e0', 'e0']);
  expect(batcher.stats()).toEqual({ waiting: 0, sent: 1, spooled: 0, sampledOut: 0, dropped: {} });
});
