import { setImmediate } from 'node:timers/promises';
import { createLocalWakeups, silentLog } from '@sallyport/core';
import { ManualClock } from '@sallyport/core/testing';
import {
  createTelemetryAccountData,
  createTelemetryEngine,
  type Place,
  type RecordFilter,
  type StoredRecord,
  type TelemetryStore,
} from '@sallyport/telemetry/server';
import {
  createRecordReads,
  drawsOf,
  encodeLogsRequest,
  randomLogsRequest,
} from '@sallyport/telemetry/testing';
import { expect, test } from 'vitest';
import { openTelemetryStore } from '../../../test/store/telemetry-store.ts';

const organizations = ['org', 'other'];
const accounts = ['a0', 'a1', 'a2'];
const orders = ['newest', 'oldest'] as const;
const minute = 60_000;
const retentionSeconds = 25 * 60;

function openEngine(store: TelemetryStore, clock: ManualClock) {
  return createTelemetryEngine({
    store,
    organizations: { isZeroDataRetention: async () => false },
    wakeups: createLocalWakeups(),
    clock,
    log: silentLog,
    config: { retentionSeconds },
  });
}

function openSide(clock: ManualClock) {
  const { db, store } = openTelemetryStore();
  const engine = openEngine(store, clock);
  return { db, store, engine, reads: createRecordReads(store), data: createTelemetryAccountData(store) };
}

type Side = ReturnType<typeof openSide>;

/** A page is as long as it is asked for, whatever the blocks are: a short slice is gone on with. */
function pager({ reads }: Pick<Side, 'reads'>, filter: RecordFilter, order: (typeof orders)[number]) {
  let after: Place | undefined;
  let isEnd = false;
  return async (limit: number): Promise<StoredRecord[]> => {
    const page: StoredRecord[] = [];
    while (page.length < limit && !isEnd) {
      const bounds = { maxScanned: 10, limit: limit - page.length, maxBytes: 2 ** 30 };
      const slice = await reads.scanRecords({ filter, order, after, ...bounds });
      page.push(...slice.records);
      after = slice.next;
      isEnd = after === undefined;
    }
    return page;
  };
}

const all = (side: Side, filter: RecordFilter, order: (typeof orders)[number] = 'oldest') =>
  pager(side, filter, order)(Infinity);

async function counted({ reads }: Side, filter: RecordFilter) {
  const counts: Record<string, number> = {};
  for (let after: Place | undefined; ;) {
    const walk = { filter, order: 'newest', after, maxScanned: 10, bucketMs: minute / 2 } as const;
    const slice = await reads.countRecords(walk);
    for (const { bucket, severityNumber, serviceName, count } of slice.counts) {
      const key = JSON.stringify([bucket, severityNumber, serviceName]);
      counts[key] = (counts[key] ?? 0) + count;
    }
    after = slice.next;
    if (after === undefined) return counts;
  }
}

/** One who follows, a few records at a time. */
function follower({ reads }: Pick<Side, 'reads'>, filter?: RecordFilter) {
  let after = 0;
  const seen: StoredRecord[] = [];
  async function next(maxScanned: number): Promise<boolean> {
    const { records, scannedTo } = await reads.recordsAfter({ after, filter, maxScanned, maxBytes: 20_000 });
    seen.push(...records);
    const isEnd = scannedTo === after;
    after = scannedTo;
    return !isEnd;
  }
  return { next, seen, filter };
}

/** Two stores to which the same is done; only one of them compacts. */
function openPair(seed: number) {
  const draw = drawsOf(seed);
  const clock = new ManualClock();
  const sides = [openSide(clock), openSide(clock)] as const;
  const onBoth = <T>(act: (side: Side) => Promise<T>) => Promise.all(sides.map(act));
  const one = <T>(of: readonly T[]): T => of[draw(of.length)]!;

  async function ingest(): Promise<void> {
    const request = randomLogsRequest(draw(2 ** 31));
    const { resourceLogs } = request;
    if (draw(8) === 0) resourceLogs[0]?.scopeLogs[0]?.logRecords.push({ spanId: 'refused' });
    if (draw(8) === 0)
      resourceLogs.push({ scopeLogs: [{ logRecords: Array.from({ length: 40 }, () => ({ flags: 7 })) }] });
    const encoding = one(['json', 'protobuf'] as const);
    const bytes = encoding === 'json' ? Buffer.from(JSON.stringify(request)) : encodeLogsRequest(request);
    const sender = { accountId: one(accounts), organizationId: draw(5) === 0 ? 'other' : 'org' };
    const sent = draw(4) === 0 ? { sentAt: clock.now() - 10 * minute } : {};
    await onBoth(({ engine }) => engine.ingestLogs(sender, { encoding, bytes }, sent));
  }

  function filterOf(): RecordFilter {
    const [from, to] = [draw(40), draw(40)].sort((a, b) => b - a) as [number, number];
    return {
      organizationId: one(organizations),
      ...(draw(3) === 0 && { accountId: one(accounts) }),
      ...(draw(3) === 0 && { fromReceivedAt: clock.now() - from * minute }),
      ...(draw(3) === 0 && { toReceivedAt: clock.now() - to * minute }),
      ...(draw(4) === 0 && { minSeverity: draw(25) }),
    };
  }
  return { draw, clock, sides, onBoth, ingest, filterOf, one };
}

/** Compaction that is given up at any time, and begins again as after a restart. */
function compactor({ store }: Side, clock: ManualClock) {
  let merged = 0;
  let running: Promise<void> | undefined;
  let abort = new AbortController();
  function start(): Promise<void> {
    abort = new AbortController();
    const engine = openEngine(store, clock);
    return (running ??= engine.compact(abort.signal).finally(() => {
      running = undefined;
      merged += engine.stats().mergedBlocks;
    }));
  }
  return { start, stop: () => (abort.abort(), running), merged: () => merged };
}

const total = { merged: 0, pages: 0, erased: 0, expired: 0, unexported: 0 };
const seeds = Array.from({ length: 15 }, (_, index) => index + 1);

test.each(seeds)(
  'records are the same as without compaction, whatever happens meanwhile: %i',
  async (seed) => {
    const { draw, clock, sides, onBoth, ingest, filterOf, one } = openPair(seed);
    const [plain, compacted] = sides;
    const compaction = compactor(compacted, clock);
    const ofAccount = { organizationId: 'org', accountId: 'a1' };
    const archive = follower(plain);
    const followers = [follower(compacted), follower(compacted, ofAccount)] as const;
    let pagers: ((limit: number) => Promise<StoredRecord[]>)[] = [];
    let erasedRecords = 0;

    const acts = {
      async ingest() {
        await ingest();
        while (await archive.next(1000));
      },
      async wait() {
        await clock.advance(draw(3) * draw(3 * minute));
      },
      async compact() {
        void compaction.start();
        for (let turns = draw(10); turns > 0; turns--) await setImmediate();
        if (draw(4) === 0) await compaction.stop();
      },
      async page() {
        const [filter, order] = [filterOf(), one(orders)];
        if (pagers.length === 0) pagers = sides.map((side) => pager(side, filter, order));
        const limit = 1 + draw(20);
        const [expected, page] = await Promise.all(pagers.map((next) => next(limit)));
        expect(page).toEqual(expected);
        total.pages += 1;
        if (page?.length === 0) pagers = [];
      },
      async follow() {
        await one(followers).next(1 + draw(30));
      },
      async count() {
        const filter = filterOf();
        expect(await counted(compacted, filter)).toEqual(await counted(plain, filter));
      },
      async export() {
        const exportedTo = draw((await plain.store.recordHead()).lastId + 1);
        if (draw(4) === 0) await onBoth(({ store }) => store.advanceExport({ exportedTo }));
      },
      async sweep() {
        await onBoth(({ engine }) => engine.sweep());
      },
      async erase() {
        if (draw(10) > 0) return;
        const accountId = one(accounts);
        const [expected, erased] = await onBoth(({ data }) => data.erase(accountId));
        expect(erased).toEqual(expected);
        erasedRecords += erased?.['telemetry'] ?? 0;
      },
    };

    const names = [...Object.keys(acts), 'ingest', 'ingest'] as (keyof typeof acts)[];
    for (let step = 0; step < 300; step++) await acts[one(names)]();
    while (await archive.next(1000));
    await clock.advance(5 * minute);
    await compaction.start();
    await onBoth(({ engine }) => engine.sweep());
    const left: number[] = [];
    for (const organizationId of organizations)
      for (const order of orders) {
        const expected = await all(plain, { organizationId }, order);
        expect(await all(compacted, { organizationId }, order)).toEqual(expected);
        if (order === 'oldest') left.push(...expected.map(({ id }) => id));
      }
    const { expiredUnexported, ...stats } = compacted.engine.stats();
    const expected = plain.engine.stats();
    expect({ ...stats, expiredUnexported: expected.expiredUnexported }).toEqual(expected);
    // Where the export stands within a block, what was erased from the rest of it is not known.
    expect(expiredUnexported).toBeGreaterThanOrEqual(expected.expiredUnexported);
    expect(expiredUnexported).toBeLessThanOrEqual(expected.expiredUnexported + erasedRecords);
    const sums =
      'SELECT coalesce(sum(records), 0) AS records, coalesce(sum(bytes), 0) AS bytes FROM telemetry_block';
    expect(await compacted.store.recordHead()).toMatchObject({ ...compacted.db.prepare(sums).get() });
    for (const { next, seen, filter = {} } of followers) {
      while (await next(1000));
      const meant = archive.seen.filter((record) =>
        Object.entries(filter).every(([key, of]) => record[key as 'id'] === of),
      );
      const ids = seen.map(({ id }) => id);
      // What went before it was seen is missing, and nothing else.
      expect(seen).toEqual(meant.filter(({ id }) => ids.includes(id)));
      expect(meant.filter(({ id }) => left.includes(id) && !ids.includes(id))).toEqual([]);
    }
    total.merged += compaction.merged();
    total.expired += compacted.engine.stats().expired;
    total.erased += erasedRecords;
    total.unexported += expiredUnexported;
  },
);

test('the runs above had something to tell', () => {
  for (const count of Object.values(total)) expect(count).toBeGreaterThan(100);
});

/** Ten requests of a record each, of two accounts in turn, that are to be merged. */
async function openSmall() {
  const clock = new ManualClock();
  const side = openSide(clock);
  for (let index = 0; index < 10; index++) {
    const sender = { accountId: `a${index % 2}`, organizationId: 'org' };
    await side.engine.ingestBatch(sender, [{}], { serviceName: 'shop' });
    await clock.advance(1000);
  }
  await clock.advance(20 * minute);
  return { ...side, clock };
}

/** Something else happens before the content of one block is read. */
function interrupted(store: TelemetryStore, at: number, act: () => Promise<unknown>): TelemetryStore {
  let reads = 0;
  return {
    ...store,
    async blockContent(block) {
      if (reads++ === at) await act();
      return store.blockContent(block);
    },
  };
}

const readers: Record<string, (store: TelemetryStore) => Promise<readonly StoredRecord[]>> = {
  newest: async (store) => (await pagesOf(store, 'newest')).reverse(),
  oldest: (store) => pagesOf(store, 'oldest'),
  async follower(store) {
    const { next, seen } = follower({ reads: createRecordReads(store) });
    while (await next(100));
    return seen;
  },
  export: async (store) => {
    const records: StoredRecord[] = [];
    for (const accountId of ['a0', 'a1'])
      for await (const record of createRecordReads(store).accountRecords(accountId)) records.push(record);
    return records.sort((a, b) => a.id - b.id);
  },
};
const pagesOf = (store: TelemetryStore, order: (typeof orders)[number]) =>
  pager({ reads: createRecordReads(store) }, { organizationId: 'org' }, order)(Infinity);
const moments = Array.from({ length: 10 }, (_, index) => index);

test.each(Object.entries(readers))('blocks that are merged while one reads them: %s', async (_name, read) => {
  for (const at of moments) {
    const { store, engine } = await openSmall();
    const records = await read(interrupted(store, at, () => engine.compact()));
    expect(records.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(engine.stats().mergedBlocks).toBe(10);
    expect(await store.blocksAfter({ after: 0, limit: 10 })).toHaveLength(1);
  }
});

test('an account that is erased while its blocks are merged is gone', async () => {
  for (const at of moments) {
    const { store, data, clock } = await openSmall();
    await openEngine(
      interrupted(store, at, () => data.erase('a1')),
      clock,
    ).compact();
    const left = await pagesOf(store, 'oldest');
    expect(left.map(({ id }) => id)).toEqual([1, 3, 5, 7, 9]);
    expect(await store.recordHead()).toMatchObject({ records: 5 });
  }
});

test('two accounts of one block that are erased at once are gone', async () => {
  const { store, engine, data } = await openSmall();
  await engine.compact();
  const other = createTelemetryAccountData(interrupted(store, 0, () => data.erase('a0')));
  expect(await other.erase('a1')).toEqual({ telemetry: 5 });
  expect(await store.recordHead()).toMatchObject({ records: 0, bytes: 0 });
});

test('a clock that was set back while records came: each is there once, in pages and for who follows', async () => {
  const clock = new ManualClock();
  const { store, engine, reads } = openSide(clock);
  const draw = drawsOf(3);
  for (let index = 0; index < 200; index++) {
    await engine.ingestBatch({ accountId: 'a0', organizationId: 'org' }, [{}], { serviceName: 'shop' });
    clock.jump(draw(10) === 0 ? -draw(4 * minute) : draw(minute));
    if (index === 150) await engine.compact();
  }
  const ids = Array.from({ length: 200 }, (_, index) => index + 1);
  for (const order of orders) {
    const next = pager({ reads }, { organizationId: 'org' }, order);
    const seen: number[] = [];
    for (let page = 0; page < 200; page++) {
      seen.push(...(await next(1)).map(({ id }) => id));
      if (page === 50) await engine.compact();
      if (page === 50) await clock.advance(60 * minute);
      if (page === 100) await engine.compact();
    }
    expect(seen.sort((a, b) => a - b)).toEqual(ids);
    expect(await next(1)).toEqual([]);
  }
  const { next, seen } = follower({ reads });
  while (await next(7));
  expect(seen.map(({ id }) => id)).toEqual(ids);
  expect(engine.stats().mergedBlocks).toBeGreaterThan(20);
  expect((await store.recordHead()).records).toBe(200);
});
