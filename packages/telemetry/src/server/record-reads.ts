import { silentLog } from '@sallyport/core';
import { accountsOf, countsOf, firstPlace, isRuledOut, isWithin } from './block-summary.ts';
import { blocksAtOnce, bytesOfOne, createBlockWalk, type Walk, type Walked } from './block-walk.ts';
import { createDamagedBlocks, type DamagedBlocks } from './damaged-blocks.ts';
import { createBlockOpener, isMeantOf, toStoredRecord } from './opened-block.ts';
import type { RecordCount, RecordFilter, StoredBlock, StoredRecord, TelemetryReads } from './ports.ts';

/** Bounded reads of the records in a store's blocks. */
export interface RecordReads {
  /** Stops after `limit` records, or more than `maxBytes` of them; at least one comes if one is there. */
  scanRecords(
    walk: Walk & { readonly limit: number; readonly maxBytes: number },
  ): Promise<Walked & { readonly records: readonly StoredRecord[] }>;
  /** Counts what a piece of the walk finds. */
  countRecords(
    walk: Walk & { readonly bucketMs: number },
  ): Promise<Walked & { readonly counts: readonly RecordCount[] }>;
  /**
   * Records in the order in which they were stored, from the first one behind `after`; without a filter of every
   * organization. `scannedTo` is the last one that was looked at, `after` where there is none.
   */
  recordsAfter(argument: {
    readonly after: number;
    readonly filter?: RecordFilter | undefined;
    readonly maxScanned: number;
    readonly maxBytes: number;
  }): Promise<{ readonly records: readonly StoredRecord[]; readonly scannedTo: number }>;
  /** All records of an account, in the order in which they were stored. */
  accountRecords(accountId: string): AsyncIterable<StoredRecord>;
}

/** The reads of one who reads much: the blocks that it had last stay decoded. Records of damaged blocks are left out. */
export function createRecordReads(
  store: TelemetryReads,
  damaged: DamagedBlocks = createDamagedBlocks(silentLog),
): RecordReads {
  const open = createBlockOpener(store, damaged);
  const walkBlocks = createBlockWalk(store, open);

  async function recordsAfter(
    argument: Parameters<RecordReads['recordsAfter']>[0],
  ): ReturnType<RecordReads['recordsAfter']> {
    const { after, filter, maxScanned, maxBytes } = argument;
    // Before the blocks: behind the last one of them there is nothing up to here, though ids may be missing.
    const { lastId: end } = await store.recordHead();
    const heads = await store.blocksAfter({ after, limit: blocksAtOnce });
    const records: StoredRecord[] = [];
    let [bytes, scanned, scannedTo] = [0, 0, after];
    for (const head of heads) {
      const isPassedOver = filter && isNotIn(head, filter);
      const block = isPassedOver ? undefined : await open(head, filter);
      if (!block && !isPassedOver) return scannedTo > after ? { records, scannedTo } : recordsAfter(argument);
      if (!block?.records.length) scanned += Math.ceil((block?.bytes ?? 1) / bytesOfOne);
      for (const [index, id] of block?.ids.entries() ?? []) {
        if (!block || id <= after) continue;
        if (scanned >= maxScanned) return { records, scannedTo };
        scanned += 1;
        if (!filter || isMeantOf(block, index, filter)) {
          const record = toStoredRecord(head, block, index);
          bytes += record.bytes;
          if (bytes > maxBytes && records.length > 0) return { records, scannedTo };
          records.push(record);
        }
        scannedTo = id;
      }
      scannedTo = head.lastId;
      if (scanned >= maxScanned) return { records, scannedTo };
    }
    return { records, scannedTo: heads.length < blocksAtOnce ? Math.max(scannedTo, end) : scannedTo };
  }

  return {
    async scanRecords({ limit, maxBytes, ...walk }) {
      const records: StoredRecord[] = [];
      let bytes = 0;
      const walked = await walkBlocks(walk, {
        record(head, block, index) {
          const record = toStoredRecord(head, block, index);
          records.push(record);
          bytes += record.bytes;
          return records.length < limit && bytes < maxBytes;
        },
      });
      return { ...walked, records };
    },

    async countRecords({ bucketMs, ...walk }) {
      const { filter } = walk;
      const counts = new Map<string, RecordCount & { count: number }>();
      const bucketOf = (receivedAt: number) =>
        Math.floor((receivedAt - (filter.fromReceivedAt ?? 0)) / bucketMs);
      function add(bucket: number, serviceName: string, severityNumber: number, count: number): void {
        const key = `${bucket} ${severityNumber} ${serviceName}`;
        const of = counts.get(key);
        if (of) of.count += count;
        else counts.set(key, { bucket, severityNumber, serviceName, count });
      }
      const walked = await walkBlocks(walk, {
        isKnown(head) {
          const bucket = bucketOf(head.receivedAt);
          if (!isWithin(head, filter) || bucketOf(firstPlace(head).receivedAt) !== bucket) return false;
          const known = countsOf(head.summary, filter);
          for (const counted of known ?? []) add(bucket, ...counted);
          return known !== undefined;
        },
        record(_head, { records, groups, parts }, index) {
          const bucket = bucketOf(parts[index]?.receivedAt ?? 0);
          add(bucket, groups[index]?.serviceName ?? '', records[index]?.severityNumber ?? 0, 1);
          return true;
        },
      });
      return { ...walked, counts: [...counts.values()] };
    },

    recordsAfter,

    async *accountRecords(accountId) {
      for (let after = 0; ;) {
        const heads = await store.blocksAfter({ after, limit: blocksAtOnce });
        let isChanged = false;
        for (const head of heads) {
          const isOthers = accountsOf(head)?.includes(accountId) === false;
          const block = isOthers ? undefined : await open(head);
          isChanged = !block && !isOthers;
          if (isChanged) break;
          for (const [index, part] of block?.parts.entries() ?? [])
            if (block && part.accountId === accountId && (block.ids[index] ?? 0) > after)
              yield toStoredRecord(head, block, index);
          after = head.lastId;
        }
        if (heads.length < blocksAtOnce && !isChanged) return;
      }
    },
  };
}

function isNotIn(head: StoredBlock, filter: RecordFilter): boolean {
  return head.organizationId !== filter.organizationId || isRuledOut(head, filter);
}
