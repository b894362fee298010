import {
  idleStates,
  runningStates,
  waitingStates,
  type Environment,
  type Json,
  type RegisteredEnvironment,
  type Work,
} from '@sallyport/bridge/storage';
import type { WorkState } from '@sallyport/core/contract';

/** Rows of the bridge's tables as records: for its acts and its reads alike. */
export interface EnvironmentRow {
  readonly id: string;
  readonly organization_id: string;
  readonly account_id: string;
  readonly machine_name: string;
  readonly directory: string;
  readonly metadata: string;
  readonly is_managed: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly archived_at: number | null;
  /** Null: no bridge is registered. */
  readonly worker_type: string | null;
  readonly worker_key: string | null;
  readonly device_id: string | null;
  readonly last_seen_at: number | null;
  readonly left_at: number | null;
}

/** An environment with its registration, if it has one: put a condition on `r`, or none. */
export const selectEnvironment = `
  SELECT e.id, e.organization_id, e.account_id, e.machine_name, e.directory, e.metadata, e.is_managed,
         e.created_at, e.updated_at, e.archived_at, r.worker_type, r.worker_key, r.device_id,
         r.last_seen_at, r.left_at
  FROM environment e LEFT JOIN bridge_registration r ON r.environment_id = e.id`;

export function toEnvironment(row: EnvironmentRow): Environment {
  const { worker_type: workerType, worker_key: workerKey, device_id: deviceId } = row;
  const { last_seen_at: lastSeenAt, left_at: leftAt } = row;
  return {
    id: row.id,
    organizationId: row.organization_id,
    accountId: row.account_id,
    machineName: row.machine_name,
    directory: row.directory,
    metadata: JSON.parse(row.metadata) as Json,
    isManaged: row.is_managed === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
    registration:
      workerType === null || workerKey === null || deviceId === null || lastSeenAt === null
        ? null
        : { workerType, workerKey, deviceId, lastSeenAt, leftAt },
  };
}

/** Of a row that was selected by its registration. */
export function toRegistered(row: EnvironmentRow): RegisteredEnvironment[] {
  const { registration, ...environment } = toEnvironment(row);
  return registration ? [{ ...environment, registration }] : [];
}

export interface WorkRow {
  readonly id: string;
  readonly environment_id: string;
  readonly session_id: string;
  readonly type: string;
  readonly state: WorkState;
  readonly deadline: number | null;
  readonly deliveries: number;
  readonly attempt: number;
  readonly acked_by: string | null;
  readonly attached: number;
  readonly reason: string | null;
}

/** Work items, as `WorkRow`s. */
export const selectWork =
  'SELECT id, environment_id, session_id, type, state, deadline, deliveries, attempt, acked_by, attached, reason FROM work';

export function toWork(row: WorkRow): Work {
  return {
    id: row.id,
    environmentId: row.environment_id,
    sessionId: row.session_id,
    type: row.type,
    state: row.state,
    deadline: row.deadline,
    deliveries: row.deliveries,
    attempt: row.attempt,
    ackedBy: row.acked_by,
    attached: row.attached === 1,
    reason: row.reason,
  };
}

function oneOf(states: readonly WorkState[]): string {
  return `state IN (${states.map((state) => `'${state}'`).join(', ')})`;
}

/** Conditions by state. `isIdle` and `isRunning` are those of an environment's indexes, which need them word for word. */
export const isIdle = oneOf(idleStates);
export const isRunning = oneOf(runningStates);
export const isWaiting = `${isIdle} AND ${oneOf(waitingStates)}`;

/** Where a list begins that has no place to go on from. */
export const newest = { createdAt: Number.MAX_SAFE_INTEGER, id: '' };
