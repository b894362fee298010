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

/** The telemetry's acts on SQLite. */
export function telemetryActs(db: DatabaseSync): Sync<TelemetryActs> {
  const insertRecord = db.prepare(
    `INSERT INTO telemetry_record (organization_id, account_id, service_name, received_at, event_name, time_unix_nano,
       observed_time_unix_nano, severity_number, severity_text, body, attributes, trace_id, span_id,
       resource_id, scope_id, dropped_attributes_count, flags, skew_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const selectOrigin = db.prepare('SELECT id FROM telemetry_origin WHERE organization_id = ? AND digest = ?');
  const insertOrigin = db.prepare(
    'INSERT INTO telemetry_origin (organization_id, digest, content) VALUES (?, ?, ?)',
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

  /** The id of a resource or a scope, which is stored where it is new. */
  function originId(organizationId: string, origin: RecordResource | null): number | bigint | null {
    if (origin === null) return null;
    const content = JSON.stringify(origin);
    const digest = createHash('sha256').update(content).digest();
    const known = selectOrigin.get(organizationId, digest)?.['id'];
    if (typeof known === 'number') return known;
    return insertOrigin.run(organizationId, digest, content).lastInsertRowid;
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
      if (isReplay(argument)) return { isReplay: true };
      const { organizationId, accountId, receivedAt, skewMs, groups } = argument;
      for (const { serviceName, resource, scope, records } of groups) {
        const resourceId = originId(organizationId, resource);
        const scopeId = originId(organizationId, scope);
        for (const record of records) {
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
            record.body && JSON.stringify(record.body),
            JSON.stringify(record.attributes),
            record.traceId,
            record.spanId,
            resourceId,
            scopeId,
            record.droppedAttributesCount,
            record.flags,
            skewMs,
          );
        }
      }
      return { isReplay: false };
    },
  };
}
