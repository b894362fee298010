import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import {
  judgeReplay,
  type AppendRecords,
  type RecordResource,
  type TelemetryActs,
} from '@sallyport/telemetry/storage';
import type { Sync } from './acts.ts';

/** Keys that are forgotten with each batch: more than one, so that old ones never pile up, and few, so that none waits. */
const forgottenAtOnce = 10;
/** What a record takes beside its texts: its other columns and its part of the index. */
const rowBytes = 200;

/** The telemetry's acts on SQLite. */
export function telemetryActs(db: DatabaseSync): Sync<TelemetryActs> {
  const insertRecord = db.prepare(
    `INSERT INTO telemetry_record (organization_id, account_id, service_name, received_at, event_name, time_unix_nano,
       observed_time_unix_nano, severity_number, severity_text, body, attributes, trace_id, span_id,
       resource_id, scope_id, dropped_attributes_count, flags, skew_ms, id, bytes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const useOrigin = db.prepare(
    `INSERT INTO telemetry_origin (organization_id, digest, content, last_record_id) VALUES (?, ?, ?, ?)
     ON CONFLICT (organization_id, digest) DO UPDATE SET last_record_id = excluded.last_record_id RETURNING id`,
  );
  const originIsKnown = db.prepare('SELECT 1 FROM telemetry_origin WHERE organization_id = ? AND digest = ?');
  const head = db.prepare('SELECT last_id, exported_to, bytes FROM telemetry_head');
  const advanceHead = db.prepare(
    'UPDATE telemetry_head SET last_id = ?, records = records + ?, bytes = bytes + ? RETURNING bytes',
  );
  const oldest = db.prepare('SELECT id, received_at, bytes FROM telemetry_record ORDER BY id LIMIT ?');
  const drop = db.prepare('DELETE FROM telemetry_record WHERE id <= ?');
  const dropOrigins = db.prepare(
    `DELETE FROM telemetry_origin WHERE id IN
       (SELECT id FROM telemetry_origin WHERE last_record_id <= ? ORDER BY last_record_id LIMIT ?)`,
  );
  const advanceExport = db.prepare(
    'UPDATE telemetry_head SET exported_to = max(coalesce(exported_to, 0), min(?, last_id))',
  );
  const selectKey = db.prepare(
    `SELECT fingerprint FROM telemetry_idempotency
     WHERE account_id = ? AND organization_id = ? AND key = ? AND created_at > ?`,
  );
  const insertKey = db.prepare('INSERT OR REPLACE INTO telemetry_idempotency VALUES (?, ?, ?, ?, ?)');
  const forgetKeys = db.prepare(
    `DELETE FROM telemetry_idempotency WHERE (account_id, organization_id, key) IN
       (SELECT account_id, organization_id, key FROM telemetry_idempotency
        WHERE created_at <= ? ORDER BY created_at LIMIT ?)`,
  );

  /** Whether the key was seen; if not, it is from now on. */
  function isReplay({ accountId, organizationId, receivedAt, idempotency }: AppendRecords): boolean {
    if (!idempotency) return false;
    const { key, fingerprint, since } = idempotency;
    const seen = selectKey.get(accountId, organizationId, key, since)?.['fingerprint'];
    if (judgeReplay(typeof seen === 'string' ? seen : undefined, fingerprint)) return true;
    forgetKeys.run(since, forgottenAtOnce);
    insertKey.run(accountId, organizationId, key, fingerprint, receivedAt);
    return false;
  }

  /** The id of a resource or a scope that records up to `lastId` have, and what it adds where it is new. */
  function originOf(organizationId: string, origin: RecordResource | null, lastId: number) {
    if (origin === null) return { id: null, bytes: 0 };
    const content = JSON.stringify(origin);
    const digest = createHash('sha256').update(content).digest();
    const bytes = originIsKnown.get(organizationId, digest) ? 0 : content.length;
    const id = useOrigin.get(organizationId, digest, content, lastId)?.['id'] as number;
    return { id, bytes };
  }

  // SQLite's `LIMIT 1 OFFSET n` walks the key alone, without the rows.
  const endOfSpan = db.prepare('SELECT id FROM telemetry_record WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?');
  const deleteSpan = db.prepare('DELETE FROM telemetry_record WHERE id > ? AND id <= ? AND account_id = ?');
  const forgetKeysOf = db.prepare('DELETE FROM telemetry_idempotency WHERE account_id = ?');

  return {
    deleteAccountRecords({ accountId, after, span }) {
      const scannedTo = endOfSpan.get(after, span - 1)?.['id'] as number | undefined;
      forgetKeysOf.run(accountId);
      const deleted = Number(deleteSpan.run(after, scannedTo ?? Number.MAX_SAFE_INTEGER, accountId).changes);
      return { deleted, scannedTo };
    },
    appendRecords(argument) {
      const { last_id: lastId, bytes: storedBytes } = head.get() as unknown as HeadRow;
      if (isReplay(argument)) return { isReplay: true, storedBytes };
      const { organizationId, accountId, receivedAt, skewMs, groups } = argument;
      let id = lastId;
      let added = 0;
      for (const { serviceName, resource, scope, records } of groups) {
        const resourceOf = originOf(organizationId, resource, id + records.length);
        const scopeOf = originOf(organizationId, scope, id + records.length);
        // Counted with the first record of it, and given back with that one: what is kept stays bounded.
        let origins = resourceOf.bytes + scopeOf.bytes;
        for (const record of records) {
          const { body, attributes } = record;
          // UTF-16 units: to within a factor of two or three, and bytes would be counted once more for it.
          const bytes = rowBytes + (body?.length ?? 0) + attributes.length + origins;
          origins = 0;
          added += bytes;
          insertRecord.run(
            organizationId,
            accountId,
            serviceName,
            receivedAt,
            record.eventName,
            record.timeUnixNano,
            record.observedTimeUnixNano,
            record.severityNumber,
            record.severityText,
            body,
            attributes,
            record.traceId,
            record.spanId,
            resourceOf.id,
            scopeOf.id,
            record.droppedAttributesCount,
            record.flags,
            skewMs,
            ++id,
            bytes,
          );
        }
      }
      return { isReplay: false, storedBytes: advanceHead.get(id, id - lastId, added)?.['bytes'] as number };
    },

    dropOldest({ receivedUntil, maxBytes, limit }) {
      const { exported_to: exportedTo, bytes } = head.get() as unknown as HeadRow;
      let excess = bytes - maxBytes;
      let [dropped, unexported, lastId] = [0, 0, 0];
      for (const row of oldest.all(limit) as unknown as OldestRow[]) {
        if (row.received_at > receivedUntil && excess <= 0) break;
        excess -= row.bytes;
        lastId = row.id;
        dropped += 1;
        unexported += exportedTo !== null && row.id > exportedTo ? 1 : 0;
      }
      if (dropped === 0) return { dropped, unexported };
      drop.run(lastId);
      dropOrigins.run(lastId, limit);
      return { dropped, unexported };
    },

    advanceExport({ exportedTo }) {
      advanceExport.run(exportedTo);
    },
  };
}

interface HeadRow {
  readonly last_id: number;
  readonly exported_to: number | null;
  readonly bytes: number;
}

interface OldestRow {
  readonly id: number;
  readonly received_at: number;
  readonly bytes: number;
}
