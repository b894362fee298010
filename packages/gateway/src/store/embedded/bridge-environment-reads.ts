import { foldCase, type BridgeReads } from '@sallyport/bridge/storage';
import { readPart } from '@sallyport/core';
import {
  isRunning,
  isWaiting,
  newest,
  selectEnvironment,
  toEnvironment,
  toRegistered,
  type EnvironmentRow,
} from './bridge-rows.ts';
import type { Reader } from './reader.ts';

type EnvironmentReads = Pick<
  BridgeReads,
  | 'environment'
  | 'registeredAmong'
  | 'deletedEnvironment'
  | 'environments'
  | 'managedEnvironments'
  | 'waitingWork'
  | 'stops'
  | 'workCreator'
  | 'accountEnvironments'
  | 'organizationEnvironments'
>;

/** Environments, and the work that waits in them. */
export function environmentReads(reader: Reader): EnvironmentReads {
  const environmentById = reader.query<EnvironmentRow>(`${selectEnvironment} WHERE e.id = ?`);
  const registered = reader.query<{ id: string }>(
    `SELECT environment_id AS id FROM bridge_registration
     WHERE environment_id IN (SELECT value FROM json_each(?))`,
  );
  const tombstoneById = reader.query<{ organization_id: string }>(
    'SELECT organization_id FROM deleted_environment WHERE id = ?',
  );
  const listed = reader.query<EnvironmentRow & { active_sessions: number }>(
    `SELECT listed.*, (SELECT count(*) FROM work WHERE work.environment_id = listed.id
         AND ${isRunning}) AS active_sessions
     FROM (${selectEnvironment}
       WHERE e.organization_id = ? AND (e.created_at, e.id) < (?, ?) AND e.archived_at IS NULL AND r.last_seen_at > ?
         AND r.worker_type IN (SELECT value FROM json_each(?))
       ORDER BY e.created_at DESC, e.id DESC LIMIT ?) AS listed`,
  );
  const managed = reader.query<EnvironmentRow>(
    `${selectEnvironment}
     WHERE e.organization_id = ? AND e.is_managed = 1 AND (e.created_at, e.id) < (?, ?) AND instr(e.folded_name, ?) > 0
     ORDER BY e.created_at DESC, e.id DESC LIMIT ?`,
  );
  const waiting = reader.query<{ id: string }>(
    `SELECT id FROM work WHERE environment_id = ? AND ${isWaiting}
       AND type IN (SELECT value FROM json_each(?)) ORDER BY created_at, id LIMIT 1`,
  );
  const stopsAfter = reader.query<{ id: string; stop_at: number; stop_forced: number }>(
    `SELECT id, stop_at, stop_forced FROM work WHERE environment_id = ? AND (stop_at, id) > (?, ?)
       AND stop_at IS NOT NULL ORDER BY stop_at, id LIMIT 100`,
  );
  const creatorOfWork = reader.query<{ account_id: string }>(
    `SELECT session.account_id FROM work JOIN session ON session.id = work.session_id
     WHERE work.id = ? AND work.environment_id = ?`,
  );
  const environmentsOf = reader.query<EnvironmentRow>(
    `${selectEnvironment} WHERE e.account_id = ? AND e.id > ? ORDER BY e.id LIMIT ?`,
  );
  const environmentsIn = reader.query<EnvironmentRow>(
    `${selectEnvironment} WHERE e.organization_id = ? ORDER BY e.created_at, e.id LIMIT ?`,
  );
  return {
    environment({ environmentId }) {
      const row = environmentById.get(environmentId);
      return Promise.resolve(row && toEnvironment(row));
    },

    registeredAmong: ({ environmentIds }) =>
      Promise.resolve(registered.all(JSON.stringify(environmentIds)).map(({ id }) => id)),

    deletedEnvironment: ({ environmentId }) =>
      Promise.resolve(tombstoneById.get(environmentId)?.organization_id),

    environments({ organizationId, workerTypes, seenSince, limit, before }) {
      const { createdAt, id } = before ?? newest;
      const types = JSON.stringify(workerTypes);
      const rows = listed.each(organizationId, createdAt, id, seenSince, types, limit + 1);
      const { items, isLast } = readPart(rows, limit, (row) =>
        toRegistered(row).map((environment) => ({ ...environment, activeSessions: row.active_sessions })),
      );
      return Promise.resolve({ items: items.flat(), isLast });
    },

    managedEnvironments({ organizationId, name = '', limit, before }) {
      const { createdAt, id } = before ?? newest;
      const rows = managed.each(organizationId, createdAt, id, foldCase(name), limit + 1);
      return Promise.resolve(readPart(rows, limit, toEnvironment));
    },

    waitingWork: ({ environmentId, types }) =>
      Promise.resolve(waiting.get(environmentId, JSON.stringify(types))?.id),

    stops({ environmentId, after }) {
      const rows = stopsAfter.all(environmentId, after.at, after.workId);
      return Promise.resolve(
        rows.map(({ id, stop_at, stop_forced }) => ({ workId: id, at: stop_at, force: stop_forced === 1 })),
      );
    },

    workCreator: ({ environmentId, workId }) =>
      Promise.resolve(creatorOfWork.get(workId, environmentId)?.account_id),

    accountEnvironments({ accountId, after, limit }) {
      const rows = environmentsOf.each(accountId, after?.id ?? '', limit + 1);
      return Promise.resolve(readPart(rows, limit, toEnvironment));
    },

    organizationEnvironments({ organizationId, limit }) {
      const rows = environmentsIn.each(organizationId, limit + 1);
      return Promise.resolve(readPart(rows, limit, toEnvironment));
    },
  };
}
