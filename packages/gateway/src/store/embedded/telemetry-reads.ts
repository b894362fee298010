import type { StoredBlock, TelemetryReads } from '@sallyport/telemetry/storage';
import { decompress, type Compressed } from './compressed.ts';
import type { Reader } from './reader.ts';
import { ofSeveral } from './telemetry-acts.ts';

interface BlockRow {
  readonly last_id: number;
  readonly records: number;
  readonly organization_id: string;
  readonly account_id: string;
  readonly received_at: number;
  readonly skew_ms: number | null;
  readonly form: StoredBlock['form'];
  readonly summary: string | null;
}

const columns = 'last_id, records, organization_id, account_id, received_at, skew_ms, form, summary';

/** The telemetry's bounded reads on SQLite. */
export function telemetryReads(reader: Reader): TelemetryReads {
  const head = reader.query<{ last_id: number; exported_to: number | null; records: number; bytes: number }>(
    'SELECT last_id, exported_to, records, bytes FROM telemetry_head',
  );
  const listing = (direction: 'ASC' | 'DESC') =>
    reader.query<BlockRow>(
      `SELECT ${columns} FROM telemetry_block
       WHERE organization_id = ? AND (received_at, last_id) > (?, ?) AND (received_at, last_id) < (?, ?)
       ORDER BY received_at ${direction}, last_id ${direction} LIMIT ?`,
    );
  const listings = { newest: listing('DESC'), oldest: listing('ASC') };
  const after = reader.query<BlockRow>(
    // By id, not by the index of listings, which has them in another order.
    `SELECT ${columns} FROM telemetry_block NOT INDEXED WHERE last_id > ? ORDER BY last_id LIMIT ?`,
  );
  const content = reader.query<Compressed>(
    'SELECT content AS bytes, compression FROM telemetry_block WHERE last_id = ? AND records = ?',
  );

  return {
    async listBlocks({ organizationId, order, from, to, limit }) {
      const rows = listings[order].all(organizationId, from.receivedAt, from.id, to.receivedAt, to.id, limit);
      return rows.map(toBlock);
    },

    async blocksAfter({ after: id, limit }) {
      return after.all(id, limit).map(toBlock);
    },

    async blockContent({ lastId, records }) {
      const row = content.get(lastId, records);
      return row && decompressed(row);
    },

    async recordHead() {
      const row = head.get();
      return {
        lastId: row?.last_id ?? 0,
        exportedTo: row?.exported_to ?? 0,
        records: row?.records ?? 0,
        bytes: row?.bytes ?? 0,
      };
    },
  };
}

function decompressed(row: Compressed): Uint8Array | null {
  try {
    return decompress(row);
  } catch {
    return null;
  }
}

function toBlock(row: BlockRow): StoredBlock {
  return {
    lastId: row.last_id,
    records: row.records,
    organizationId: row.organization_id,
    accountId: row.account_id === ofSeveral ? null : row.account_id,
    receivedAt: row.received_at,
    skewMs: row.skew_ms,
    form: row.form,
    summary: row.summary,
  };
}
