import type { DatabaseSync } from 'node:sqlite';
import {
  finalStates,
  judgeRegistration,
  judgeStop,
  type BridgeActs,
  type RegistrationFacts,
} from '@sallyport/bridge/storage';
import { ServiceError } from '@sallyport/core';
import type { Sync } from './acts.ts';
import type { SessionLog } from './bridge-log.ts';
import {
  oneOf,
  select,
  selectEnvironment,
  selectWork,
  toEnvironment,
  toWork,
  type EnvironmentRow,
  type WorkRow,
} from './bridge-rows.ts';

/** How long it is told that an environment was deleted, rather than that there is none. */
const tombstoneMs = 24 * 3600 * 1000;

type EnvironmentActs = Pick<
  BridgeActs,
  'registerEnvironment' | 'unregisterEnvironment' | 'leaveEnvironment' | 'touchEnvironments'
>;

export function environmentActs(db: DatabaseSync, log: SessionLog): Sync<EnvironmentActs> {
  const byId = select<EnvironmentRow>(db, `${selectEnvironment} WHERE e.id = ?`);
  // `+`: not by the organization's index; a device has few environments.
  const byPlace = select<EnvironmentRow>(
    db,
    `${selectEnvironment} WHERE r.device_id = ? AND +e.organization_id = ? AND e.account_id = ?
       AND e.machine_name = ? AND e.directory = ? ORDER BY r.last_seen_at DESC LIMIT 1`,
  );
  const tombstone = select<{ organization_id: string }>(
    db,
    'SELECT organization_id FROM deleted_environment WHERE id = ?',
  );
  const openWork = select<WorkRow>(
    db,
    `${selectWork} WHERE environment_id = ? AND state NOT ${oneOf(finalStates)}`,
  );
  const insertEnvironment = db.prepare(
    `INSERT INTO environment (id, organization_id, account_id, machine_name, directory, metadata, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET machine_name = excluded.machine_name, directory = excluded.directory,
       metadata = excluded.metadata, updated_at = excluded.updated_at`,
  );
  const insertRegistration = db.prepare(
    `INSERT INTO bridge_registration (environment_id, device_id, worker_key, worker_type, generation, last_seen_at)
     VALUES (?, ?, ?, ?, 1, ?)
     ON CONFLICT (environment_id) DO UPDATE SET device_id = excluded.device_id, worker_key = excluded.worker_key,
       worker_type = excluded.worker_type, generation = generation + 1, last_seen_at = excluded.last_seen_at,
       left_at = NULL`,
  );
  const deleteEnvironment = select<{ organization_id: string }>(
    db,
    'DELETE FROM environment WHERE id = ? RETURNING organization_id',
  );
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
  const renewUnattached = db.prepare(
    `UPDATE work SET deadline = max(deadline, ?) WHERE environment_id = ? AND state = 'active' AND attached = 0`,
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

  return {
    registerEnvironment({ sentId, newId, ...given }) {
      const { accountId, organizationId, deviceId, workerKey, machineName, directory, workerType, now } =
        given;
      const place = byPlace.get(deviceId, organizationId, accountId, machineName, directory);
      const id = judgeRegistration(factsOf(sentId, place), given, given) ?? newId;
      const metadata = JSON.stringify(given.metadata);
      insertEnvironment.run(id, organizationId, accountId, machineName, directory, metadata, now, now);
      insertRegistration.run(id, deviceId, workerKey, workerType, now);
      deleteTombstone.run(id);
      return id;
    },

    unregisterEnvironment({ environmentId, ...given }) {
      const deleted = deleteEnvironment.get(environmentId);
      if (!deleted) throw new ServiceError('not_found', 'There is no such environment.');
      deleteRegistration.run(environmentId);
      deleteOldTombstones.run(given.now - tombstoneMs);
      insertTombstone.run(environmentId, deleted.organization_id, given.now);
      return openWork.all(environmentId).map((row) => {
        const work = toWork(row);
        return log.settle(work, judgeStop(work, { force: true, isWorker: false }, given), given.now);
      });
    },

    leaveEnvironment({ environmentId, workerKey, now }) {
      const row = registration.get(environmentId);
      if (!row) throw new ServiceError('not_found', 'There is no such environment.');
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
        renewUnattached.run(at + firstAttachMs, environmentId);
      }
    },
  };
}
