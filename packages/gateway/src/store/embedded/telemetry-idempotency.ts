import type { DatabaseSync } from 'node:sqlite';
import { judgeReplay, type AppendRecords } from '@sallyport/telemetry/storage';

/** Keys that are forgotten with each that comes: more than one, so that old ones never pile up, and few, so that none waits. */
const forgottenAtOnce = 10;

/** Which requests came before, by their keys; within the transaction of an act. */
export function telemetryIdempotency(db: DatabaseSync) {
  const select = db.prepare(
    `SELECT fingerprint FROM telemetry_idempotency
     WHERE account_id = ? AND organization_id = ? AND key = ? AND created_at > ?`,
  );
  const insert = db.prepare(
    `INSERT OR REPLACE INTO telemetry_idempotency (account_id, organization_id, key, fingerprint, created_at)
     VALUES (?, ?, ?, ?, ?)`,
  );
  const forget = db.prepare(
    `DELETE FROM telemetry_idempotency
     WHERE id IN (SELECT id FROM telemetry_idempotency ORDER BY id LIMIT ?) AND (created_at <= ? OR id <= ?)`,
  );
  const forgetIn = db.prepare('DELETE FROM telemetry_idempotency WHERE organization_id = ?');
  const forgetOf = db.prepare('DELETE FROM telemetry_idempotency WHERE account_id = ?');

  return {
    /** Whether the key was seen; if not, it is from now on. */
    isReplay({ accountId, organizationId, receivedAt, idempotency }: AppendRecords): boolean {
      if (!idempotency) return false;
      const { key, fingerprint, since, maxKeys } = idempotency;
      const seen = select.get(accountId, organizationId, key, since)?.['fingerprint'];
      if (judgeReplay(typeof seen === 'string' ? seen : undefined, fingerprint)) return true;
      const { lastInsertRowid } = insert.run(accountId, organizationId, key, fingerprint, receivedAt);
      forget.run(forgottenAtOnce, since, Number(lastInsertRowid) - maxKeys);
      return false;
    },
    forgetOrganization: (organizationId: string) => void forgetIn.run(organizationId),
    forgetAccount: (accountId: string) => void forgetOf.run(accountId),
  };
}
