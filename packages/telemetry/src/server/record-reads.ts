import { countsOf, mayHave } from './block-summary.ts';
import { blocksAtOnce, bytesOfOne, createBlockWalk, type Walk, type Walked } from './block-walk.ts';
import { createBlockOpener, firstId, toStoredRecord, type OpenedBlock } from './opened-block.ts';
import type { RecordCount, RecordFilter, StoredBlock, StoredRecord, TelemetryReads } from './ports.ts';
import { isMeant } from './record-filter.ts';

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

/** The reads of one who reads much: the blocks that it had last stay decoded. */
export function createRecordReads(store: TelemetryReads): RecordReads {
  const open = createBlockOpener(store);
  const walkBlocks = createBlockWalk(store, open);

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
      function add(
        { receivedAt }: StoredBlock,
        serviceName: string,
        severityNumber: number,
        count: number,
      ): void {
        const bucket = Math.floor((receivedAt - (filter.fromReceivedAt ?? 0)) / bucketMs);
        const key = `${bucket} ${severityNumber} ${serviceName}`;
        const of = counts.get(key);
        if (of) of.count += count;
        else counts.set(key, { bucket, severityNumber, serviceName, count });
      }
      const walked = await walkBlocks(walk, {
        isKnown(head) {
          const known = countsOf(head.summary, filter);
          for (const counted of known ?? []) add(head, ...counted);
          return known !== undefined;
        },
        record(head, { records, groups }, index) {
          add(head, groups[index]?.serviceName ?? '', records[index]?.severityNumber ?? 0, 1);
          return true;
        },
      });
      return { ...walked, counts: [...counts.values()] };
    },

    async recordsAfter({ after, filter, maxScanned, maxBytes }) {
      // Before the blocks: behind the last one of them there is nothing up to here, though ids may be missing.
      const { lastId: end } = await store.recordHead();
      const heads = await store.blocksAfter({ after, limit: blocksAtOnce });
      const records: StoredRecord[] = [];
      let [bytes, scanned, scannedTo] = [0, 0, after];
      for (const head of heads) {
        const block = filter && isRuledOut(head, filter) ? undefined : await open(head, filter);
        if (!block?.records.length) scanned += Math.ceil((block?.bytes ?? 1) / bytesOfOne);
        for (
          let index = Math.max(0, after + 1 - firstId(head));
          block && index < block.records.length;
          index++
        ) {
          if (scanned >= maxScanned) return { records, scannedTo };
          scanned += 1;
          if (!filter || isMeantAt(block, index, filter)) {
            const record = toStoredRecord(head, block, index);
            bytes += record.bytes;
            if (bytes > maxBytes && records.length > 0) return { records, scannedTo };
            records.push(record);
          }
          scannedTo = firstId(head) + index;
        }
        scannedTo = head.lastId;
        if (scanned >= maxScanned) return { records, scannedTo };
      }
      return { records, scannedTo: heads.length < blocksAtOnce ? Math.max(scannedTo, end) : scannedTo };
    },

    async *accountRecords(accountId) {
      for (let after = 0; ;) {
        const heads = await store.blocksAfter({ after, limit: blocksAtOnce });
        for (const head of heads) {
          const block = head.accountId === accountId ? await open(head) : undefined;
          for (let index = 0; block && index < head.records; index++)
            yield toStoredRecord(head, block, index);
        }
        after = heads.at(-1)?.lastId ?? after;
        if (heads.length < blocksAtOnce) return;
      }
    },
  };
}

function isRuledOut(head: StoredBlock, filter: RecordFilter): boolean {
  const { organizationId, accountId, fromReceivedAt = 0, toReceivedAt = Infinity } = filter;
  return (
    head.organizationId !== organizationId ||
    (accountId !== undefined && head.accountId !== accountId) ||
    head.receivedAt < fromReceivedAt ||
    head.receivedAt >= toReceivedAt ||
    !mayHave(head.summary, filter)
  );
}

function isMeantAt({ records, groups }: OpenedBlock, index: number, filter: RecordFilter): boolean {
  const [record, group] = [records[index], groups[index]];
  return record !== undefined && group !== undefined && isMeant(record, group, filter);
}
