import type { DatabaseSync } from 'node:sqlite';
import { foldCase, mergeMetadata, type BridgeActs } from '@sallyport/bridge/storage';
import { ServiceError } from '@sallyport/core';
import type { Sync } from './acts.ts';
import type { StopAll } from './bridge-environment-stop.ts';
import { earlierIn } from './bridge-idempotency.ts';
import { selectEnvironment, toEnvironment, type EnvironmentRow } from './bridge-rows.ts';
import { noSuchEnvironment } from './bridge-unknown.ts';
import { select } from './query.ts';

type ManagedActs = Pick<BridgeActs, 'createEnvironment' | 'updateEnvironment' | 'archiveEnvironment'>;

/** What people do with environments' records; bridges register theirs. */
export function managedActs(db: DatabaseSync, stopAll: StopAll): Sync<ManagedActs> {
  const earlierEnvironment = earlierIn(db, 'environment');
  const byId = select<EnvironmentRow>(db, `${selectEnvironment} WHERE e.id = ?`);
  const insert = db.prepare(
    `INSERT INTO environment (id, organization_id, account_id, machine_name, folded_name, directory, metadata,
       is_managed, idempotency_key, fingerprint, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)`,
  );
  const update = db.prepare(
    `UPDATE environment SET machine_name = ?, folded_name = ?, directory = ?, metadata = ?, updated_at = ?
     WHERE id = ?`,
  );
  const archive = db.prepare(
    'UPDATE environment SET archived_at = ?, updated_at = ? WHERE id = ? AND archived_at IS NULL',
  );

  function known(id: string) {
    const row = byId.get(id);
    if (!row) throw noSuchEnvironment();
    return toEnvironment(row);
  }

  return {
    createEnvironment(given) {
      const { id, organizationId, accountId, machineName, directory, idempotency, now } = given;
      const earlier = earlierEnvironment(given);
      if (earlier !== undefined) return earlier;
      const what = [machineName, foldCase(machineName), directory, JSON.stringify(given.metadata)] as const;
      const { key = null, fingerprint = null } = idempotency ?? {};
      insert.run(id, organizationId, accountId, ...what, key, fingerprint, now, now);
      return id;
    },

    updateEnvironment({ environmentId, now, ...sent }) {
      const before = known(environmentId);
      const { machineName = before.machineName, directory = before.directory } = sent;
      const metadata = JSON.stringify(mergeMetadata(before.metadata, sent.metadata ?? {}));
      update.run(machineName, foldCase(machineName), directory, metadata, now, environmentId);
    },

    archiveEnvironment(given) {
      const { environmentId, now } = given;
      known(environmentId);
      if (archive.run(now, now, environmentId).changes === 0)
        throw new ServiceError('already_archived', 'The environment is archived already.');
      return stopAll(given, false);
    },
  };
}
