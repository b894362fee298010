import type { DatabaseSync } from 'node:sqlite';
import { judgeReplay, type AppendRecords, type TelemetryActs } from '@sallyport/telemetry/storage';
import type { Sync } from './acts.ts';

/** Keys that are forgotten with each batch: more than one, so that old ones never pile up, and few, so that none waits. */
const forgottenAtOnce = 10;

/** The telemetry's acts on SQLite. */
export function telemetryActs(db: DatabaseSync): Sync<TelemetryActs> {
  const insertRecord = db.prepare(
    `INSERT INTO telemetry_record (organization_id, account_id, service_name, received_at, event_name, time_unix_nano,
       observed_time_unix_nano, severity_number, severity_text, body, attributes, trace_id, span_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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

  return {
    appendRecords(argument) {
      if (isReplay(argument)) return { isReplay: true };
      const { organizationId, accountId, serviceName, receivedAt, records } = argument;
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
        );
      }
      return { isReplay: false };
    },
  };
}
