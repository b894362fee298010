import type { DatabaseSync } from 'node:sqlite';
import type { Idempotency } from '@sallyport/bridge/storage';
import { ServiceError } from '@sallyport/core';
import { select } from './query.ts';

/** The id of what the account's key made before, if that is not too long ago. Throws where the request was another one. */
export type EarlierOf = (given: {
  readonly accountId: string;
  readonly organizationId: string;
  readonly idempotency: Idempotency | undefined;
}) => string | undefined;

/** Reads the keys that a table's rows were made with; one whose time is over is given free. */
export function earlierIn(db: DatabaseSync, tableName: 'environment' | 'session'): EarlierOf {
  const byKey = select<{ id: string; fingerprint: string; created_at: number }>(
    db,
    `SELECT id, fingerprint, created_at FROM ${tableName}
     WHERE account_id = ? AND organization_id = ? AND idempotency_key = ?`,
  );
  const releaseKey = db.prepare(
    `UPDATE ${tableName} SET idempotency_key = NULL, fingerprint = NULL WHERE id = ?`,
  );
  return ({ accountId, organizationId, idempotency }) => {
    const earlier = idempotency && byKey.get(accountId, organizationId, idempotency.key);
    if (!earlier) return undefined;
    if (earlier.created_at <= idempotency.since) {
      releaseKey.run(earlier.id);
      return undefined;
    }
    if (earlier.fingerprint === idempotency.fingerprint) return earlier.id;
    throw new ServiceError('invalid_request', 'The Idempotency-Key was used with another request.');
  };
}
