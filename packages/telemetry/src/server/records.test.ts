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
  const asked = Array.from({ length: 20 }, () => [records.list(caller, {}, 10), records.count(caller, {})]);
  await Promise.all(asked.flat());
  wakeups.notify(recordsTopic(caller.organizationId));
  // One more page is behind all that wait already.
  await records.list(caller, {}, 10);
  end.abort();
  await Promise.allSettled(tails);
  expect(seen.slices).toBeGreaterThan(100);
  expect(seen.most).toBe(1);
});
