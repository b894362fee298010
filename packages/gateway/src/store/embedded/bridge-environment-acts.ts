import type { DatabaseSync } from 'node:sqlite';
import {
  foldCase,
  judgeRegistration,
  registeredMetadata,
  registeredName,
  workerTypeOf,
  type BridgeActs,
  type Environment,
  type RegistrationFacts,
  type Timing,
} from '@sallyport/bridge/storage';
import type { Sync } from './acts.ts';
import type { StopAll } from './bridge-environment-stop.ts';
import { selectEnvironment, toEnvironment, type EnvironmentRow } from './bridge-rows.ts';
import { noSuchEnvironment } from './bridge-unknown.ts';
import { select } from './query.ts';
import type { UnattachedWork } from './bridge-unattached.ts';

/**
 * How long it is told that an environment was deleted, rather than that there is none: a bridge that finds none registers it
 * anew, and its machine may have been off over a holiday.
 */
const tombstoneMs = 90 * 24 * 3600 * 1000;

type EnvironmentActs = Pick<
  BridgeActs,
  | 'registerEnvironment'
  | 'unregisterEnvironment'
  | 'deleteEnvironment'
  | 'leaveEnvironment'
  | 'touchEnvironments'
>;

export function environmentActs(
  db: DatabaseSync,
  stopAll: StopAll,
  unattached: UnattachedWork,
): Sync<EnvironmentActs> {
  const byId = select<EnvironmentRow>(db, `${selectEnvironment} WHERE e.id = ?`);
  // `+`: not by the organization's index; a device has few environments.
  const byPlace = select<EnvironmentRow>(
    db,
    `${selectEnvironment} WHERE r.device_id = ? AND +e.organization_id = ? AND e.account_id = ?
       AND e.machine_name = ? AND e.directory = ? AND e.archived_at IS NULL ORDER BY r.last_seen_at DESC LIMIT 1`,
  );
  const tombstone = select<{ organization_id: string }>(
    db,
    'SELECT organization_id FROM deleted_environment WHERE id = ?',
  );
  const insertEnvironment = db.prepare(
    `INSERT INTO environment (id, organization_id, account_id, machine_name, folded_name, directory, metadata, created_at,
       updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET machine_name = excluded.machine_name, folded_name = excluded.folded_name,
       directory = excluded.directory, metadata = excluded.metadata, updated_at = excluded.updated_at`,
  );
  const insertRegistration = db.prepare(
    `INSERT INTO bridge_registration (environment_id, device_id, worker_key, worker_type, generation, last_seen_at)
     VALUES (?, ?, ?, ?, 1, ?)
     ON CONFLICT (environment_id) DO UPDATE SET device_id = excluded.device_id, worker_key = excluded.worker_key,
       worker_type = excluded.worker_type, generation = generation + 1, last_seen_at = excluded.last_seen_at,
       left_at = NULL`,
  );
  const deleteEnvironment = db.prepare('DELETE FROM environment WHERE id = ?');
  const deleteRegistration = db.prepare('DELETE FROM bridge_registration WHERE environment_id = ?');
  const insertTombstone = db.prepare(
    'INSERT OR REPLACE INTO deleted_environment (id, organization_id, deleted_at) VALUES (?, ?, ?)',
  );
  const deleteTombstone = db.prepare('DELETE FROM deleted_environment WHERE id = ?');
  const deleteOldTombstones = db.prepare('DELETE FROM deleted_environment WHERE deleted_at < ?');
  const registration = select<{ worker_key: string; last_seen_at: number; left_at: number | null }>(
    db,
    'SELECT worker_key, last_seen_at, left_at FROM bridge_registration WHERE environment_id = ?',
  );
  const leaveRegistration = db.prepare('UPDATE bridge_registration SET left_at = ? WHERE environment_id = ?');
  const touchRegistration = db.prepare(
    'UPDATE bridge_registration SET last_seen_at = max(last_seen_at, ?) WHERE environment_id = ?',
  );

  function factsOf(sentId: string | undefined, place: EnvironmentRow | undefined): RegistrationFacts {
    const sent = sentId === undefined ? undefined : byId.get(sentId);
    return {
      sentId,
      bySentId: sent && toEnvironment(sent),
      deletedBy: sentId === undefined ? undefined : tombstone.get(sentId)?.organization_id,
      byPlace: place && toEnvironment(place),
    };
  }

  function existing(id: string): Environment {
    const row = byId.get(id);
    if (!row) throw noSuchEnvironment();
    return toEnvironment(row);
  }

  /** The bridge is told that it is gone, also where the record stays. */
  function removeRegistration({ id, organizationId }: Environment, given: Timing) {
    deleteRegistration.run(id);
    deleteOldTombstones.run(given.now - tombstoneMs);
    insertTombstone.run(id, organizationId, given.now);
    return stopAll({ ...given, environmentId: id }, true);
  }

  return {
    registerEnvironment({ sentId, newId, ...given }) {
      const { accountId, organizationId, deviceId, workerKey, machineName, directory, now } = given;
      const place = byPlace.get(deviceId, organizationId, accountId, machineName, directory);
      const id = judgeRegistration(factsOf(sentId, place), given, given) ?? newId;
      const row = byId.get(id);
      const known = row && toEnvironment(row);
      const metadata = registeredMetadata(known, given.metadata);
      const name = registeredName(known, machineName);
      const what = [name, foldCase(name), directory, JSON.stringify(metadata)] as const;
      insertEnvironment.run(id, organizationId, accountId, ...what, now, now);
      insertRegistration.run(id, deviceId, workerKey, workerTypeOf(metadata), now);
      deleteTombstone.run(id);
      return { environmentId: id, returned: unattached.giveBack({ ...given, environmentId: id }) };
    },

    unregisterEnvironment(given) {
      const environment = existing(given.environmentId);
      if (environment.registration === null) throw noSuchEnvironment();
      if (!environment.isManaged) deleteEnvironment.run(environment.id);
      return removeRegistration(environment, given);
    },

    deleteEnvironment(given) {
      const environment = existing(given.environmentId);
      deleteEnvironment.run(environment.id);
      return removeRegistration(environment, given);
    },

    leaveEnvironment({ environmentId, workerKey, now }) {
      const row = registration.get(environmentId);
      if (!row) throw noSuchEnvironment();
      const { worker_key, last_seen_at: lastSeenAt, left_at } = row;
      if (workerKey !== undefined && workerKey !== worker_key) return { lastSeenAt, leftAt: left_at };
      // Another replica's clock may be ahead of this one.
      const leftAt = Math.max(now, lastSeenAt);
      leaveRegistration.run(leftAt, environmentId);
      return { lastSeenAt, leftAt };
    },

    touchEnvironments({ seen, firstAttachMs }) {
      for (const { environmentId, at } of seen) {
        touchRegistration.run(at, environmentId);
        unattached.renew(environmentId, at + firstAttachMs);
      }
    },
  };
}
