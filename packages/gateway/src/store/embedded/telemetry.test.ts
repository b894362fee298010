import { createLocalWakeups, silentLog, ServiceError } from '@sallyport/core';
import { ManualClock, seededRandom } from '@sallyport/core/testing';
import {
  createTelemetryEngine,
  type Place,
  type RecordFilter,
  type StoredRecord,
  type TelemetryConfig,
} from '@sallyport/telemetry/server';
import type { TelemetryActs } from '@sallyport/telemetry/storage';
import { createRecordReads, encodeLogsRequest } from '@sallyport/telemetry/testing';
import { describe, expect, test } from 'vitest';
import { openTelemetryStore } from '../../../test/store/telemetry-store.ts';

const sender = { accountId: 'account', organizationId: 'org' };
const day = 24 * 3600 * 1000;

/** The engine on its tables; each act is a transaction of its own. */
function makeEngine(
  options: {
    zeroRetention?: string;
    appendRecords?: TelemetryActs['appendRecords'];
    config?: Partial<TelemetryConfig>;
  } = {},
) {
  const { db, store } = openTelemetryStore();
  const clock = new ManualClock();
  const reads = createRecordReads(store);
  const engine = createTelemetryEngine({
    store: {
      ...store,
      ...(options.appendRecords && { appendRecords: options.appendRecords }),
    },
    organizations: { isZeroDataRetention: async (id) => id === options.zeroRetention },
    wakeups: createLocalWakeups(),
    clock,
    log: silentLog,
    ...(options.config && { config: options.config }),
  });
  const ingest = (events: readonly unknown[], idempotencyKey?: string, from = sender) =>
    engine.ingestBatch(from, events, {
      serviceName: 'agent_desktop',
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    });
  const records = async (
    filter: Partial<RecordFilter> = {},
    more: { limit?: number; after?: Place } = {},
  ) => {
    const bounds = { order: 'oldest', maxScanned: 1000, limit: 1000, maxBytes: 2 ** 30 } as const;
    const scan = { filter: { organizationId: 'org', ...filter }, ...bounds, ...more };
    return (await reads.scanRecords(scan)).records;
  };
  const stored = async (organizationId = 'org') =>
    (await records({ organizationId })).map(({ eventName }) => eventName);
  return { engine, db, store, clock, ingest, records, stored };
}

const event = (name: string, more: object = {}) => ({
  timeUnixNano: '1700000000000000001',
  severityNumber: 9,
  attributes: [{ key: 'event.name', value: { stringValue: name } }],
  ...more,
});
const events = (count: number) => Array.from({ length: count }, (_, index) => event(`e${index}`));
const refusalOf = async (answer: Promise<unknown>): Promise<ServiceError> => {
  const error: unknown = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ServiceError)) throw new Error('was not refused', { cause: error });
  return error;
};

test('a record is read as it was sent, to the last digit', async () => {
  const { records, clock, ingest } = makeEngine();
  const attributes = [
    { key: 'event.name', value: { stringValue: 'x' } },
    { key: 'big', value: { intValue: '9223372036854775807' } },
  ];
  const sent = {
    timeUnixNano: '18446744073709551615',
    observedTimeUnixNano: '1700000000000000001',
    severityNumber: 17,
    severityText: 'error',
    body: { kvlistValue: { values: [{ key: 'a', value: { doubleValue: 0.1 } }] } },
    attributes,
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
  };
  expect(await ingest([sent])).toEqual({ accepted: 1 });
  expect(await records()).toEqual([
    {
      ...sent,
      id: 1,
      ...sender,
      serviceName: 'agent_desktop',
      receivedAt: clock.now(),
      eventName: 'x',
      resource: null,
      scope: null,
      droppedAttributesCount: 0,
      flags: 0,
      skewMs: null,
      bytes: expect.any(Number) as number,
    },
  ]);
});

describe('order of checks', () => {
  test('50 are taken, 51 are 413, however malformed', async () => {
    const { ingest, stored } = makeEngine();
    expect(await ingest(events(50))).toEqual({ accepted: 50 });
    expect(await refusalOf(ingest(Array.from({ length: 51 }, () => 'nonsense')))).toMatchObject({
      code: 'too_many_events',
      status: 413,
    });
    expect(await stored()).toHaveLength(50);
  });

  test('one malformed event refuses all, and is named', async () => {
    const { ingest, stored } = makeEngine();
    const batch = [...events(17), event('bad', { body: 'text' }), event('worse', { severityNumber: 99 })];
    const refusal = await refusalOf(ingest(batch));
    expect(refusal).toMatchObject({ code: 'invalid_request', status: 400 });
    expect(refusal.issues.map(({ path }) => path)).toEqual(['events/17/body', 'events/18/severityNumber']);
    expect(await stored()).toEqual([]);
  });

  test('none is fine', async () => {
    expect(await makeEngine().ingest([])).toEqual({ accepted: 0 });
  });
});

describe('the idempotency key', () => {
  test('stores a batch once within 24 h', async () => {
    const { engine, clock, ingest, stored } = makeEngine();
    expect(await ingest(events(2), 'k')).toEqual({ accepted: 2 });
    await clock.advance(day - 1);
    expect(await ingest(events(2), 'k')).toEqual({ accepted: 2 });
    expect(await stored()).toHaveLength(2);
    await clock.advance(1);
    await ingest(events(2), 'k');
    expect(await stored()).toHaveLength(4);
    expect(engine.stats()).toMatchObject({ stored: 4, replayed: 2, droppedForZeroRetention: 0, rejected: 0 });
  });

  test("is refused for other events, and is each account's own", async () => {
    const { ingest, stored } = makeEngine();
    await ingest(events(1), 'k');
    expect(await refusalOf(ingest(events(2), 'k'))).toMatchObject({ status: 400, code: 'invalid_request' });
    await ingest(events(2), 'k', { ...sender, accountId: 'other' });
    await ingest(events(3), 'k', { ...sender, organizationId: 'other' });
    expect([(await stored()).length, (await stored('other')).length]).toEqual([3, 3]);
  });

  test('of the oldest requests is forgotten, where there are too many, whatever account goes meanwhile', async () => {
    const { db, store, ingest, stored } = makeEngine({ config: { maxIdempotencyKeys: 20 } });
    const keys = () => db.prepare('SELECT count(*) AS n FROM telemetry_idempotency').get()?.['n'];
    for (let key = 0; key < 50; key++) await ingest(events(1), String(key));
    expect(keys()).toBe(20);
    for (const key of ['30', '49']) await ingest(events(1), key);
    expect(await stored()).toHaveLength(50);
    await ingest(events(1), '29');
    expect([(await stored()).length, keys()]).toEqual([51, 20]);
    await store.deleteAccountRecords({ accountId: 'account', after: 0, span: 1000 });
    for (let key = 0; key < 30; key++) await ingest(events(1), `again ${key}`);
    expect(keys()).toBe(20);
  });

  test.each(['json', 'protobuf'] as const)(
    'a partial success that comes again is answered alike, and counted once: %s',
    async (encoding) => {
      const { engine, stored } = makeEngine();
      const request = {
        resourceLogs: [{ scopeLogs: [{ logRecords: [event('a'), event('b', { traceId: 'ab' })] }] }],
      };
      const bytes = encoding === 'json' ? Buffer.from(JSON.stringify(request)) : encodeLogsRequest(request);
      const send = () => engine.ingestLogs(sender, { encoding, bytes }, { idempotencyKey: 'k' });
      const answer = await send();
      expect(answer.rejected).toBe(1);
      expect(await Promise.all([send(), send()])).toEqual([answer, answer]);
      expect(await stored()).toEqual(['a']);
      expect(engine.stats()).toMatchObject({ stored: 1, replayed: 2, rejected: 1 });
    },
  );

  test('of a refused batch is free', async () => {
    const { ingest } = makeEngine();
    await refusalOf(ingest([event('x', { body: 1 })], 'k'));
    expect(await ingest(events(1), 'k')).toEqual({ accepted: 1 });
  });
});

test('an organization without data retention gets its answer, and nothing is kept', async () => {
  const { engine, ingest, stored } = makeEngine({ zeroRetention: 'org' });
  expect(await ingest(events(3), 'k')).toEqual({ accepted: 3 });
  expect(await stored()).toEqual([]);
  expect(engine.stats()).toMatchObject({ stored: 0, droppedForZeroRetention: 3 });
});

test('a store that cannot write is 429 with Retry-After, which the endpoint lists', async () => {
  const { ingest } = makeEngine({
    appendRecords: () =>
      Promise.reject(new ServiceError('store_unavailable', 'full', { retryAfterMs: 5000 })),
  });
  expect(await refusalOf(ingest(events(1)))).toMatchObject({ status: 429, retryAfterMs: 5000 });
});

test("records are found by the time at which they came, whatever the sender's clock says", async () => {
  const { records, clock, ingest } = makeEngine();
  const start = clock.now();
  for (const [index, skew] of [0, 2 * 3600, -3 * 24 * 3600].entries()) {
    const nanos = `${Math.trunc(start / 1000) + skew}000000000`;
    await ingest([event(`e${index}`, { timeUnixNano: nanos })]);
    await clock.advance(1000);
  }
  await ingest([event('e9')], undefined, { accountId: 'account', organizationId: 'other' });
  const query = async (filter: Partial<RecordFilter>, more: { limit?: number; after?: Place } = {}) =>
    (await records(filter, more)).map(({ eventName }) => eventName);
  expect(await query({})).toEqual(['e0', 'e1', 'e2']);
  expect(await query({ fromReceivedAt: start + 1000 })).toEqual(['e1', 'e2']);
  expect(await query({ toReceivedAt: start + 1000 })).toEqual(['e0']);
  expect(await query({}, { limit: 2 })).toEqual(['e0', 'e1']);
  expect(await query({}, { after: { receivedAt: start + 1000, id: 2 } })).toEqual(['e2']);
  expect(await query({ eventName: 'e1' })).toEqual(['e1']);
  expect(await query({ serviceName: 'other' })).toEqual([]);
  expect(await query({ minSeverity: 17 })).toEqual([]);
});

test('what is too old goes, and what is too much, the oldest first; what no export took is counted', async () => {
  const { engine, db, store, clock, ingest, stored } = makeEngine({
    config: { retentionSeconds: 60, maxStoredBytes: 40_000 },
  });
  const weighed = () =>
    db
      .prepare(
        'SELECT coalesce(sum(bytes), 0) AS bytes, coalesce(sum(records), 0) AS records FROM telemetry_block',
      )
      .get();
  await ingest([event('old')]);
  await store.advanceExport({ exportedTo: 1 });
  await clock.advance(59_999);
  await ingest([event('young')]);
  await engine.sweep();
  expect(await stored()).toEqual(['old', 'young']);
  await clock.advance(1);
  await engine.sweep();
  expect(await stored()).toEqual(['young']);
  expect(engine.stats()).toMatchObject({ expired: 1, expiredUnexported: 0 });

  for (let round = 0; round < 3; round++) await ingest(events(50));
  // By itself: nobody sweeps between the requests of a busy day.
  await expect.poll(() => engine.stats().expired).toBeGreaterThan(1);
  await engine.sweep(); // joins it
  expect(await store.recordHead()).toMatchObject({ ...weighed(), lastId: 152, exportedTo: 1 });
  // By whole blocks, of which one has about 15,000.
  expect(Number(weighed()?.['bytes'])).toBeLessThanOrEqual(40_000);
  expect(Number(weighed()?.['bytes'])).toBeGreaterThan(20_000);
  expect(weighed()?.['records']).toBe(100);
  expect((await stored()).at(-1)).toBe('e49');
  expect(engine.stats().expiredUnexported).toBe(engine.stats().expired - 1);
  // Ids are not given out again when all are gone: followers and the export go by them.
  db.exec('DELETE FROM telemetry_block');
  await ingest([event('next')]);
  expect(await store.recordHead()).toMatchObject({ lastId: 153, records: 1 });
});

test('pages of any size, in either order, have what is meant once, across blocks of every form', async () => {
  const { engine, store, clock } = makeEngine();
  const random = seededRandom(7);
  const draw = (below: number) => Math.floor(random.fraction() * below);
  for (let request = 0; request < 60; request++) {
    const logRecords = Array.from({ length: 1 + draw(40) }, () => ({
      severityNumber: draw(25),
      body: { stringValue: draw(5) === 0 ? 'needle' : 'hay' },
      timeUnixNano: String(1 + draw(1000)),
      ...(draw(60) === 0 && { spanId: 'refused' }),
    }));
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: `s${draw(3)}` } }] };
    const form = { resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] };
    const from = { accountId: `a${draw(2)}`, organizationId: draw(4) === 0 ? 'other' : 'org' };
    await engine.ingestLogs(from, { encoding: 'json', bytes: Buffer.from(JSON.stringify(form)) });
    if (draw(3) === 0) await clock.advance(draw(3)); // many share a millisecond
  }
  await store.deleteAccountRecords({ accountId: 'a1', after: 300, span: 60 }); // ids are missing in between
  const reads = createRecordReads(store);
  const all: StoredRecord[] = [];
  for (let after = 0, end = 0; ; after = end) {
    const slice = await reads.recordsAfter({ after, maxScanned: 7, maxBytes: 5000 });
    end = slice.scannedTo;
    all.push(...slice.records);
    if (end === after) break;
  }
  const { records: count } = await store.recordHead();
  expect(all.length).toBe(count);

  const filters: Partial<RecordFilter>[] = [
    {},
    { accountId: 'a0' },
    { minSeverity: 17, serviceName: 's1' },
    { text: 'NEEDLE' },
    { fromTime: '200', toTime: '700' },
    { fromReceivedAt: clock.now() - 12, toReceivedAt: clock.now() - 3 },
  ];
  for (const asked of filters)
    for (const order of ['newest', 'oldest'] as const) {
      const filter = { organizationId: 'org', ...asked };
      const { accountId, fromReceivedAt = 0, toReceivedAt = Infinity, text = '', ...rest } = filter;
      const meant = all.filter(
        (record) =>
          record.organizationId === 'org' &&
          (accountId === undefined || record.accountId === accountId) &&
          record.receivedAt >= fromReceivedAt &&
          record.receivedAt < toReceivedAt &&
          record.severityNumber >= (rest.minSeverity ?? 0) &&
          (rest.serviceName === undefined || record.serviceName === rest.serviceName) &&
          Number(record.timeUnixNano) >= Number(rest.fromTime ?? 0) &&
          Number(record.timeUnixNano) < Number(rest.toTime ?? Infinity) &&
          JSON.stringify(record.body).includes(text.toLowerCase()),
      );
      const ids = meant.map(({ id }) => id);
      const paged: number[] = [];
      for (let after: Place | undefined, slices = 0; ;) {
        const bounds = { maxScanned: 1 + draw(50), limit: 1 + draw(20), maxBytes: 1 + draw(20_000) };
        const page = await reads.scanRecords({ filter, order, after, ...bounds });
        paged.push(...page.records.map(({ id }) => id));
        expect(page.scanned).toBeLessThanOrEqual(bounds.maxScanned + 1);
        if (page.next === undefined) break;
        expect(page.next).not.toEqual(after);
        after = page.next;
        if (++slices > 5000) throw new Error('does not end');
      }
      expect(paged).toEqual(order === 'oldest' ? ids : ids.toReversed());
      let counted = 0;
      for (let after: Place | undefined; ;) {
        const slice = await reads.countRecords({
          filter,
          order,
          after,
          maxScanned: 1 + draw(50),
          bucketMs: 5,
        });
        for (const of of slice.counts) counted += of.count;
        if (slice.next === undefined) break;
        after = slice.next;
      }
      expect(counted).toBe(ids.length);
    }
});
