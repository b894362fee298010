import type { DatabaseSync } from 'node:sqlite';
import type { MergedBlock, StoredBlock, TelemetryActs } from '@sallyport/telemetry/storage';
import type { Sync } from './acts.ts';
import { compress } from './compressed.ts';
import { telemetryIdempotency } from './telemetry-idempotency.ts';

/** What a block takes beside its content and its summary: its other columns and its part of the index. */
const rowBytes = 200;
/** For the account of a block that is of several: no account has this id. */
export const ofSeveral = '';
/** Content of so many bytes counts as a record at least: what one act frees is bounded by that, too. */
const bytesOfOne = 4096;

/** The telemetry's acts on SQLite. */
export function telemetryActs(db: DatabaseSync): Sync<TelemetryActs> {
  const insertBlock = db.prepare(
    `INSERT INTO telemetry_block (last_id, records, organization_id, account_id, received_at, skew_ms, form, bytes, summary,
       compression, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const head = db.prepare('SELECT last_id, exported_to, bytes FROM telemetry_head');
  const advanceHead = db.prepare(
    'UPDATE telemetry_head SET last_id = ?, records = records + ?, bytes = bytes + ? RETURNING bytes',
  );
  const next = db.prepare(
    'SELECT last_id, records, account_id, received_at, bytes FROM telemetry_block WHERE last_id > ? ORDER BY last_id LIMIT ?',
  );
  const drop = db.prepare('DELETE FROM telemetry_block WHERE last_id <= ?');
  const dropRange = db.prepare('DELETE FROM telemetry_block WHERE last_id BETWEEN ? AND ?');
  const inRange = db.prepare(
    'SELECT count(*) AS blocks, sum(records) AS records FROM telemetry_block WHERE last_id BETWEEN ? AND ?',
  );
  const inListing = db.prepare(
    `SELECT count(*) AS blocks FROM telemetry_block
     WHERE organization_id = ? AND (received_at, last_id) >= (?, ?) AND (received_at, last_id) <= (?, ?)`,
  );
  const deleteBlock = db.prepare('DELETE FROM telemetry_block WHERE last_id = ?');
  const advanceExport = db.prepare(
    'UPDATE telemetry_head SET exported_to = max(coalesce(exported_to, 0), min(?, last_id))',
  );
  const idempotency = telemetryIdempotency(db);
  const oldestOf = db.prepare(
    `SELECT last_id, records, account_id, received_at, bytes FROM telemetry_block WHERE organization_id = ?
     ORDER BY received_at, last_id LIMIT ?`,
  );

  /** Gives what it takes of the room. */
  function insert(block: Insertion): number {
    const { lastId, form, records, summary, content } = block;
    const { organizationId, accountId, receivedAt, skewMs } = block;
    const { bytes: written, compression } = compress(content);
    const bytes = rowBytes + summary.length + written.byteLength;
    const origin = [organizationId, accountId ?? ofSeveral, receivedAt, skewMs] as const;
    insertBlock.run(lastId, records, ...origin, form, bytes, summary, compression, written);
    return bytes;
  }

  /** Whether the blocks are there as they were, and no others between them. */
  function areNeighbours(blocks: readonly StoredBlock[]): boolean {
    const [first, last] = [blocks[0], blocks.at(-1)];
    if (!first || !last) return false;
    const records = blocks.reduce((sum, block) => sum + block.records, 0);
    const found = inRange.get(first.lastId, last.lastId);
    if (found?.['blocks'] !== blocks.length || found['records'] !== records) return false;
    const { organizationId } = first;
    const bounds = [first.receivedAt, first.lastId, last.receivedAt, last.lastId] as const;
    return inListing.get(organizationId, ...bounds)?.['blocks'] === blocks.length;
  }

  return {
    appendRecords(argument) {
      const { last_id: lastId, bytes: storedBytes } = head.get() as unknown as HeadRow;
      if (idempotency.isReplay(argument)) return { isReplay: true, storedBytes };
      const { organizationId, accountId, receivedAt, skewMs, blocks } = argument;
      let id = lastId;
      let added = 0;
      for (const block of blocks) {
        id += block.records;
        added += insert({ ...block, lastId: id, organizationId, accountId, receivedAt, skewMs });
      }
      return { isReplay: false, storedBytes: advanceHead.get(id, id - lastId, added)?.['bytes'] as number };
    },

    dropOldest({ receivedUntil, maxBytes, limit }) {
      const { exported_to: exportedTo, bytes } = head.get() as unknown as HeadRow;
      let excess = bytes - maxBytes;
      let [dropped, unexported, weight, lastId] = [0, 0, 0, 0];
      for (const block of next.iterate(0, limit) as Iterable<unknown> as Iterable<BlockRow>) {
        if (weight >= limit || (block.received_at > receivedUntil && excess <= 0)) break;
        excess -= block.bytes;
        lastId = block.last_id;
        weight += weigh(block);
        dropped += block.records;
        if (exportedTo !== null) unexported += Math.min(block.records, Math.max(0, lastId - exportedTo));
      }
      if (dropped > 0) drop.run(lastId);
      return { dropped, unexported, isDone: weight < limit };
    },

    advanceExport({ exportedTo }) {
      advanceExport.run(exportedTo);
    },

    deleteAccountRecords({ accountId, after, span }) {
      idempotency.forgetAccount(accountId);
      let [deleted, weight] = [0, 0];
      for (const block of next.all(after, span) as unknown as BlockRow[]) {
        const isOwn = block.account_id === accountId;
        if (isOwn) {
          deleteBlock.run(block.last_id);
          deleted += block.records;
        }
        weight += isOwn ? weigh(block) : 1;
        if (weight >= span) return { deleted, scannedTo: block.last_id };
      }
      return { deleted, scannedTo: undefined };
    },

    deleteOrganizationRecords({ organizationId, limit }) {
      let [deleted, weight] = [0, 0];
      for (const block of oldestOf.all(organizationId, limit) as unknown as BlockRow[]) {
        deleteBlock.run(block.last_id);
        deleted += block.records;
        weight += weigh(block);
        if (weight >= limit) return { deleted, isDone: false };
      }
      idempotency.forgetOrganization(organizationId);
      return { deleted, isDone: true };
    },

    replaceBlocks({ blocks, by }) {
      const { last_id: lastId, exported_to: exportedTo } = head.get() as unknown as HeadRow;
      const isDone = areNeighbours(blocks);
      if (isDone) dropRange.run(blocks[0]?.lastId ?? 0, blocks.at(-1)?.lastId ?? 0);
      if (isDone && by) advanceHead.run(lastId, by.records, insert({ ...by, skewMs: null }));
      return { isDone, exportedTo };
    },
  };
}

type Insertion = MergedBlock & Pick<StoredBlock, 'skewMs'>;

interface HeadRow {
  readonly last_id: number;
  readonly exported_to: number | null;
  readonly bytes: number;
}

interface BlockRow {
  readonly last_id: number;
  readonly records: number;
  readonly account_id: string;
  readonly received_at: number;
  readonly bytes: number;
}

function weigh({ records, bytes }: BlockRow): number {
  return Math.max(records, Math.ceil(bytes / bytesOfOne));
}
