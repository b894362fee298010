import { ManualClock, seededRandom } from '@sallyport/core/testing';
import { describe, expect, test } from 'vitest';
import { emit, makeBatcher, names, scratch } from '../../test/batcher.ts';
import { attributeOf, namesOf, startSink, statuses } from '../../test/sink.ts';
import { openSpool } from '../spool/spool.ts';
import { Packer } from './batch.ts';
import { Counters } from './counters.ts';
import { Delivery } from './delivery.ts';
import type { Verdict } from './verdict.ts';

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

  test.each([401, 403, 404, 407, 451, 500, 511])(
    'a page of a portal or a proxy with %i loses nothing, what is spooled neither',
    async (status) => {
      const { spoolDir } = scratch();
      let isThrough = false;
      const page = '<!doctype html><title>Welcome</title>';
      const sink = await startSink(() => (isThrough ? { status: 200 } : { status, body: page }));
      const { batcher, clock } = makeBatcher({ baseUrl: sink.baseUrl, spoolDir });
      openSpool({ directory: spoolDir, clock }).append(['{"attributes":[]}']);
      emit(batcher, 3);
      expect(await batcher.flush()).toMatchObject({ sent: 0, waiting: 3 });
      isThrough = true;
      await clock.advance(300_000);
      await batcher.flush();
      await batcher.shutdown();
      expect(batcher.stats()).toMatchObject({ waiting: 0, sent: 4, dropped: {} });
    },
  );

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

  test.each(['31536000', '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'a service that asks for years (%s) is asked again after an hour',
    async (retryAfter) => {
      const sink = await startSink((_, index) =>
        index === 0 ? { status: 503, headers: { 'retry-after': retryAfter } } : { status: 200 },
      );
      const { batcher, clock } = makeBatcher({ baseUrl: sink.baseUrl });
      emit(batcher, 1);
      await batcher.flush();
      await clock.advance(60 * 60_000 - 1);
      await batcher.flush();
      expect(sink.requests).toHaveLength(1);
      await clock.advance(1);
      await batcher.flush();
      expect(sink.names().slice(1)).toEqual(names(1));
    },
  );

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

test('its own pauses grow to a minute, by chance, and begin anew after a success', async () => {
  const clock = new ManualClock();
  const random = { ...seededRandom(), fraction: () => chance };
  const packer = new Packer({ maxEvents: 50, maxBytes: 1000 });
  const send = () => Promise.resolve(verdict);
  const delivery = new Delivery({
    ...{ send, packer, clock, random, spool: undefined, counters: new Counters() },
    onError: (error) => expect.unreachable(String(error)),
  });
  let verdict: Verdict = { kind: 'wait' };
  let chance = 0.5;
  let batches = packer.packLines(['{}']);
  async function pause(): Promise<number> {
    await delivery.run(() => batches.splice(0), new AbortController().signal);
    const { pauseMs } = delivery;
    await clock.advance(pauseMs);
    return pauseMs;
  }
  const seconds = [1, 1, 2, 4, 8, 16, 30, 30];
  for (const second of seconds) expect(await pause()).toBe(second * 1000);
  chance = 0.99;
  expect(await pause()).toBe(59_400);
  chance = 0;
  expect(await pause()).toBe(1000);
  verdict = { kind: 'sent' };
  expect(await pause()).toBe(0);
  [verdict, chance] = [{ kind: 'wait' }, 0.99];
  batches = packer.packLines(['{}']);
  expect(await pause()).toBe(1000);
  expect(await pause()).toBe(1980);
});
