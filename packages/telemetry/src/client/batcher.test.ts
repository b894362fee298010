import { freePort } from '@sallyport/core/testing';
import { describe, expect, test } from 'vitest';
import { makeBatcher, scratch } from '../../test/batcher.ts';
import { attributeOf, namesOf, startSink, type Script, type SinkRequest } from '../../test/sink.ts';
import { openSpool } from '../spool/spool.ts';
import type { TelemetryBatcher } from './batcher.ts';

/** What the service says of an event. */
const malformed = (index: number) => ({
  error: 'invalid_request',
  issues: [{ path: `events/${index}/body`, message: 'no' }],
});

/** An event that cannot be read. */
function lose(batcher: TelemetryBatcher): void {
  const attributes = {
    get bad(): string {
      throw new Error('no');
    },
  };
  batcher.emit({ name: 'lost', attributes });
}

/** What the notices of lost events say, by reason. */
function lossesIn(requests: readonly SinkRequest[]): Readonly<Record<string, unknown>> {
  const notices = requests
    .flatMap(({ events }) => events)
    .filter((event) => attributeOf(event, 'event.name') === 'telemetry.dropped');
  return Object.fromEntries(
    notices.map((notice) => [String(attributeOf(notice, 'reason')), attributeOf(notice, 'count')]),
  );
}

function emit(batcher: TelemetryBatcher, count: number, from = 0): void {
  for (let index = from; index < from + count; index += 1) batcher.emit({ name: `e${index}` });
}

const names = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `e${index + from}`);

/** Answers each request by the next status; the last one stays. */
function statuses(...list: readonly number[]): Script {
  return (_, index) => ({ status: list[Math.min(index, list.length - 1)] ?? 200 });
}

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

describe('gzip', () => {
  test('where it is asked for, and not for what fits into a packet', async () => {
    const sink = await startSink();
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl, gzip: true });
    emit(batcher, 1);
    await batcher.flush();
    emit(batcher, 50, 1);
    await batcher.flush();
    const encodings = sink.requests.map(({ headers }) => headers['content-encoding']);
    expect(encodings).toEqual([undefined, 'gzip']);
    const { bytes, text } = sink.requests[1]!;
    expect(bytes).toBeLessThan(text.length / 4);
    expect(sink.names()).toEqual(names(51));
  });

  test('a service on this machine gets none by default', async () => {
    const sink = await startSink();
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl });
    emit(batcher, 50);
    await batcher.flush();
    expect(sink.requests[0]!.headers['content-encoding']).toBeUndefined();
  });

  test('a service that knows none gets none from then on', async () => {
    const sink = await startSink(({ headers }) => ({ status: headers['content-encoding'] ? 415 : 200 }));
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl, gzip: true });
    emit(batcher, 100);
    expect(await batcher.flush()).toMatchObject({ sent: 100, dropped: 0 });
    expect(sink.requests.map(({ headers }) => headers['content-encoding'])).toEqual([
      'gzip',
      undefined,
      undefined,
    ]);
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

  test('a pause is not waited for at shutdown', async () => {
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

  test('without a spool the loss is counted', async () => {
    const { batcher } = makeBatcher({ baseUrl: `http://127.0.0.1:${await freePort()}` });
    emit(batcher, 2);
    expect(await batcher.shutdown()).toEqual({ sent: 0, spooled: 0, dropped: 2, waiting: 0 });
    expect(batcher.stats().dropped).toEqual({ unsent: 2 });
  });
});

describe('what the service says', () => {
  test('400 that names events: the others are stored', async () => {
    const sink = await startSink((_, index) =>
      index > 0
        ? { status: 200 }
        : {
            status: 400,
            body: { error: 'invalid_request', issues: [{ path: 'events/1/body', message: 'bad' }] },
          },
    );
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl });
    emit(batcher, 3);
    expect(await batcher.flush()).toMatchObject({ sent: 2, dropped: 1 });
    expect(namesOf(sink.requests[1]!)).toEqual(['e0', 'e2']);
  });

  test('400 that always names one more ends after five rounds', async () => {
    const sink = await startSink(() => ({
      status: 400,
      body: { error: 'invalid_request', issues: [{ path: 'events/0', message: 'bad' }] },
    }));
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl });
    emit(batcher, 50);
    expect(await batcher.flush()).toMatchObject({ sent: 0, dropped: 50 });
    expect(sink.requests).toHaveLength(5);
  });

  test.each([400, 413])('%i without a name: the bad one is found by halves', async (status) => {
    const sink = await startSink((request) => ({ status: namesOf(request).includes('e5') ? status : 200 }));
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl });
    emit(batcher, 16);
    expect(await batcher.flush()).toMatchObject({ sent: 15, dropped: 1 });
    expect(sink.requests).toHaveLength(9);
  });

  test('401: the token is refreshed once, then the service is left alone; a new login brings all', async () => {
    const asked: boolean[] = [];
    let login = 'revoked';
    const sink = await startSink(({ headers }) => ({
      status: headers.authorization === 'Bearer good' ? 200 : 401,
    }));
    const { batcher, clock } = makeBatcher({
      baseUrl: sink.baseUrl,
      tokens: {
        token: (options) => {
          asked.push(options?.forceRefresh === true);
          return Promise.resolve(login);
        },
      },
    });
    emit(batcher, 1);
    await batcher.flush();
    expect(asked).toEqual([false, true]);
    for (let minute = 0; minute < 4; minute += 1) {
      emit(batcher, 60, 1 + minute * 60);
      await clock.advance(60_000);
      await batcher.flush();
    }
    expect(sink.requests).toHaveLength(2);
    login = 'good';
    await clock.advance(60_000);
    await batcher.flush();
    expect(batcher.stats()).toMatchObject({ waiting: 0, sent: 241, dropped: {} });
    expect(sink.requests.slice(2).flatMap(namesOf)).toEqual(names(241));
  });

  test('no login is no error: events wait, and go to the spool', async () => {
    const sink = await startSink();
    const errors: unknown[] = [];
    const { batcher } = makeBatcher({
      baseUrl: sink.baseUrl,
      ...scratch(),
      tokens: { token: () => Promise.reject(new Error('not signed in')) },
      onError: (error) => errors.push(error),
    });
    emit(batcher, 3);
    expect(await batcher.flush()).toEqual({ sent: 0, spooled: 0, dropped: 0, waiting: 3 });
    expect(await batcher.shutdown()).toEqual({ sent: 0, spooled: 3, dropped: 0, waiting: 0 });
    expect(errors).toEqual([]);
    expect(sink.requests).toHaveLength(0);
  });

  test.each([403, 404])('%i: all is dropped, and nothing more is sent', async (status) => {
    const sink = await startSink(statuses(status));
    const { batcher, clock } = makeBatcher({ baseUrl: sink.baseUrl });
    emit(batcher, 120);
    await batcher.flush();
    emit(batcher, 60);
    await clock.advance(600_000);
    await batcher.shutdown();
    expect(sink.requests).toHaveLength(1);
    expect(batcher.stats()).toEqual({
      waiting: 0,
      sent: 0,
      spooled: 0,
      sampledOut: 0,
      dropped: { refused: 180 },
    });
  });

  test('429: nothing is sent before its time, not even by a flush; then the same batch goes', async () => {
    const sink = await startSink((_, index) =>
      index === 0 ? { status: 429, headers: { 'retry-after': '90' } } : { status: 200 },
    );
    const { batcher, clock } = makeBatcher({ baseUrl: sink.baseUrl });
    emit(batcher, 1);
    await batcher.flush();
    emit(batcher, 80, 1);
    await clock.advance(89_000);
    await batcher.flush();
    expect(sink.requests).toHaveLength(1);
    await clock.advance(1000);
    await sink.reached(2);
    expect(sink.requests[1]!.text).toBe(sink.requests[0]!.text);
    await batcher.flush();
    expect(sink.requests.slice(1).flatMap(namesOf)).toEqual(names(81));
  });

  test('500: three more attempts with pauses, then the batch is dropped and the next one goes', async () => {
    const sink = await startSink(statuses(500, 500, 500, 500, 200));
    const { batcher, clock } = makeBatcher({ baseUrl: sink.baseUrl });
    emit(batcher, 1);
    await batcher.flush();
    for (let attempt = 2; attempt <= 4; attempt += 1) {
      await clock.advance(60_000);
      await sink.reached(attempt);
      await batcher.flush();
    }
    expect(batcher.stats()).toMatchObject({ waiting: 0, dropped: { refused: 1 } });
    emit(batcher, 1, 1);
    await clock.advance(120_000);
    await batcher.flush();
    expect(batcher.stats()).toMatchObject({ waiting: 0, sent: 2 });
    expect(sink.requests.at(-1)!.events.map((event) => attributeOf(event, 'event.name'))).toEqual([
      'e1',
      'telemetry.dropped',
    ]);
  });

  test('any 2xx is a success, whatever its body', async () => {
    const sink = await startSink(() => ({ status: 202, headers: { 'content-type': 'text/html' } }));
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl });
    emit(batcher, 1);
    expect(await batcher.flush()).toMatchObject({ sent: 1 });
  });
});

describe('losses', () => {
  test('a full queue loses the oldest of the least severe, says so to the hook and to the service, once a flush', async () => {
    const sink = await startSink();
    const heard: [string, number][] = [];
    const { batcher } = makeBatcher({
      baseUrl: sink.baseUrl,
      queue: { maxEvents: 10 },
      allowAttributes: [],
      onDrop: (reason, count) => heard.push([reason, count]),
    });
    batcher.report({ name: 'boom', severity: 'error' });
    emit(batcher, 14);
    batcher.emit({
      name: 'x',
      attributes: {
        get bad(): string {
          throw new Error('no');
        },
      },
    });
    expect(batcher.stats()).toMatchObject({ waiting: 10, dropped: { overflow: 5, invalid: 1 } });
    await batcher.flush();
    // The notice itself took one more's place.
    expect(sink.names()).toEqual(['boom', ...names(8, 6), 'telemetry.dropped']);
    const notice = sink.requests[0]!.events.at(-1)!;
    expect([attributeOf(notice, 'reason'), attributeOf(notice, 'count')]).toEqual(['overflow', '5']);
    expect(heard).toEqual([
      ...Array.from({ length: 5 }, () => ['overflow', 1]),
      ['invalid', 1],
      ['overflow', 1],
    ]);
  });

  test('what a program could not report before its end, the next one reports', async () => {
    const sink = await startSink(() => ({ status: 503 }));
    const { spoolDir } = scratch();
    const first = makeBatcher({ baseUrl: sink.baseUrl, spoolDir, queue: { maxEvents: 2 } });
    emit(first.batcher, 1);
    await first.batcher.flush();
    emit(first.batcher, 5);
    await first.batcher.shutdown();
    expect(first.batcher.stats()).toMatchObject({ waiting: 0, dropped: { overflow: 3 } });

    sink.script = () => ({ status: 200 });
    const before = sink.requests.length;
    await makeBatcher({ baseUrl: sink.baseUrl, spoolDir }).batcher.flush();
    const notice = sink.requests
      .slice(before)
      .flatMap(({ events }) => events)
      .find((event) => attributeOf(event, 'event.name') === 'telemetry.dropped')!;
    expect([attributeOf(notice, 'reason'), attributeOf(notice, 'count')]).toEqual(['overflow', '3']);
  });

  test('at the end losses of every kind are told, those of the last request too', async () => {
    const sink = await startSink((_, index) =>
      index === 0 ? { status: 400, body: malformed(1) } : { status: 200 },
    );
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl, queue: { maxEvents: 10 } });
    emit(batcher, 11);
    lose(batcher);
    await batcher.shutdown();
    // The first notice took an event's place.
    expect(sink.requests.length).toBe(3);
    expect(lossesIn(sink.requests.slice(1))).toEqual({ overflow: '1', invalid: '1', refused: '1' });
  });

  test('what a program lost of every kind, and could not tell before its end, the next one tells', async () => {
    const sink = await startSink(() => ({ status: 503 }));
    const { spoolDir } = scratch();
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl, spoolDir, queue: { maxEvents: 10 } });
    emit(batcher, 1);
    await batcher.flush();
    emit(batcher, 12);
    lose(batcher);
    await batcher.shutdown();
    const before = sink.requests.length;
    sink.script = () => ({ status: 200 });
    await makeBatcher({ baseUrl: sink.baseUrl, spoolDir }).batcher.flush();
    expect(lossesIn(sink.requests.slice(before))).toEqual({ overflow: '2', invalid: '1' });
  });

  test('what grows too old on the disk, or has no room there, is counted and reported', async () => {
    const sink = await startSink(() => ({ status: 503 }));
    const { spoolDir } = scratch();
    // In memory a character counts as one byte: all have room there, but not on the disk.
    const queue = { maxEvents: 1000, maxBytes: 2 ** 30 };
    const full = makeBatcher({ baseUrl: sink.baseUrl, spoolDir, queue });
    for (let index = 0; index < 300; index += 1)
      full.batcher.emit({ name: 'x', attributes: { text: '語'.repeat(15_000) } });
    await full.batcher.shutdown();
    const kept = openSpool({ directory: spoolDir, clock: full.clock }).peek().length;
    expect(kept).toBeGreaterThan(200);
    // And the notice of that.
    expect(full.batcher.stats()).toMatchObject({ spooled: 301, dropped: { expired: 301 - kept } });

    sink.script = () => ({ status: 200 });
    const { batcher, clock } = makeBatcher({ baseUrl: sink.baseUrl, spoolDir });
    await clock.advance(8 * 24 * 3600 * 1000);
    emit(batcher, 1);
    await batcher.flush();
    expect(batcher.stats()).toMatchObject({ sent: 1, dropped: { expired: kept } });
    await batcher.flush();
    expect(sink.names().slice(-2)).toEqual(['e0', 'telemetry.dropped']);
  });

  test('emit never throws, nor do hooks that do', () => {
    const { batcher } = makeBatcher({
      baseUrl: 'http://127.0.0.1:9',
      onDrop: () => {
        throw new Error('hook');
      },
    });
    const hostile = new Proxy(
      { name: 'x' },
      {
        get: () => {
          throw new Error('no');
        },
      },
    );
    expect(() => batcher.emit(hostile)).not.toThrow();
    expect(batcher.stats().dropped).toEqual({ invalid: 1 });
  });

  test('what changes after the emit does not change the event', async () => {
    const sink = await startSink();
    const { batcher } = makeBatcher({ baseUrl: sink.baseUrl });
    const attributes = { text: 'before', list: ['before'] };
    const simple = { name: 'x', body: 'before', attributes: { text: 'before' } };
    batcher.emit({ name: 'x', attributes });
    batcher.emit(simple);
    attributes.text = attributes.list[0] = simple.body = simple.attributes.text = 'after';
    await batcher.flush();
    expect(sink.requests[0]!.text).toContain('before');
    expect(sink.requests[0]!.text).not.toContain('after');
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
