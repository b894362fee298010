import { createLocalWakeups } from '@sallyport/core';
import { ManualClock } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { createRecords, type RecordsOptions } from './records.ts';
import { recordsTopic } from './topics.ts';

const caller = { accountId: 'account', organizationId: 'organization', role: 'admin' } as const;

/** A store of many records, none of which is meant, that tells how many slices were read in one turn of the event loop. */
function watchedStore() {
  const seen = { inTurn: 0, most: 0, slices: 0 };
  function slice(): void {
    if (seen.inTurn++ === 0) setImmediate(() => (seen.inTurn = 0));
    seen.most = Math.max(seen.most, seen.inTurn);
    seen.slices++;
  }
  const next = { receivedAt: 1, id: 1 };
  const store: RecordsOptions['store'] = {
    async scanRecords() {
      slice();
      return { records: [], next, scanned: 1000 };
    },
    async countRecords() {
      slice();
      return { counts: [], next, scanned: 1000 };
    },
    async recordsAfter({ after }) {
      slice();
      return { records: [], scannedTo: Math.max(after, 5) };
    },
    recordHead: async () => ({ lastId: 0, exportedTo: 0, records: 0, bytes: 0 }),
  };
  return { seen, store };
}

test('many readers at once take turns, so that they stall all else no longer than one does', async () => {
  const { seen, store } = watchedStore();
  const wakeups = createLocalWakeups();
  const config = { maxScannedRecords: 5000, maxCountedRecords: 5000 };
  const records = createRecords({ store, wakeups, clock: new ManualClock(), config });
  const end = new AbortController();
  const tails = Array.from({ length: 20 }, async () => {
    const { records: followed } = await records.follow(caller, {}, { signal: end.signal });
    for await (const _record of followed);
  });
  const asked = Array.from({ length: 20 }, (_, index) => {
    const by = { ...caller, accountId: `account-${index}` };
    return [records.list(by, {}, 10), records.count(by, {})];
  });
  await Promise.all(asked.flat());
  wakeups.notify(recordsTopic(caller.organizationId));
  // One more page is behind all that wait already.
  await records.list(caller, {}, 10);
  end.abort();
  await Promise.allSettled(tails);
  expect(seen.slices).toBeGreaterThan(100);
  expect(seen.most).toBe(1);
});

/** A store whose slices come one by one, as they are let through, and in which nothing is meant. */
function heldStore() {
  const { store } = watchedStore();
  const slices: (() => void)[] = [];
  const held = <Read extends (...given: never[]) => Promise<unknown>>(read: Read) =>
    (async (...given) => {
      await new Promise<void>((resolve) => slices.push(resolve));
      return read(...given);
    }) as Read;
  const { scanRecords, countRecords } = store;
  return { slices, store: { ...store, scanRecords: held(scanRecords), countRecords: held(countRecords) } };
}

const open = (store: RecordsOptions['store'], most: number) =>
  createRecords({
    store,
    wakeups: createLocalWakeups(),
    clock: new ManualClock(),
    config: { maxScannedRecords: most, maxCountedRecords: most },
  });

test('a few reads of an account are under way at once; the others wait their turn, and nobody else does', async () => {
  const { slices, store } = heldStore();
  const records = open(store, 1000);
  const ended: number[] = [];
  const asked = Array.from({ length: 10 }, async (_, index) => {
    await (index % 2 === 0 ? records.list(caller, {}, 10) : records.count(caller, {}));
    ended.push(index);
  });
  await expect.poll(() => slices.length).toBe(4);
  const other = records.list({ ...caller, accountId: 'other' }, {}, 10);
  await expect.poll(() => slices.length).toBe(5);
  slices.pop()?.();
  await other;
  for (let left = 10; left > 0; left--) {
    await expect.poll(() => slices.length).toBe(Math.min(4, left));
    slices.shift()?.();
  }
  await Promise.all(asked);
  expect(ended).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('a read that fails makes room for the next one', async () => {
  const { store } = watchedStore();
  const records = open(store, 1000);
  const asked = Array.from({ length: 20 }, (_, index) =>
    records.list(caller, index < 19 ? { offset: 'none' } : {}, 10),
  );
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.map(({ status }) => status)).toEqual([...Array<string>(19).fill('rejected'), 'fulfilled']);
});

test('who has gone costs one slice more, whether it waited or was under way; what it had goes on from there', async () => {
  const { slices, store } = heldStore();
  const records = open(store, Number.MAX_SAFE_INTEGER);
  const gone = new AbortController();
  const asked = Array.from({ length: 6 }, (_, index) =>
    index < 5 ? records.list(caller, {}, 10, gone.signal) : records.count(caller, {}, gone.signal),
  );
  await expect.poll(() => slices.length).toBe(4);
  gone.abort();
  await expect.poll(() => slices.length).toBe(6);
  for (const next of slices) next();
  const next = expect.any(String) as unknown;
  expect(await Promise.all(asked)).toMatchObject([
    ...Array.from({ length: 5 }, () => ({ records: [], next })),
    { complete: false },
  ]);
  expect(slices).toHaveLength(6);
});
