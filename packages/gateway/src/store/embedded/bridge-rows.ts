import type { DatabaseSync } from 'node:sqlite';
import type { Environment, Json, Work } from '@sallyport/bridge/storage';
import type { WorkState } from '@sallyport/core/contract';
import type { Query } from './reader.ts';

/** Rows of the bridge's tables as records: for its acts and its reads alike. */
export interface EnvironmentRow {
  readonly id: string;
  readonly organization_id: string;
  readonly account_id: string;
  readonly machine_name: string;
  readonly directory: string;
  readonly metadata: string;
  readonly worker_type: string;
  readonly last_seen_at: number;
  readonly left_at: number | null;
  readonly created_at: number;
}

/** An environment with a registration. */
export const selectEnvironment = `
  SELECT e.id, e.organization_id, e.account_id, e.machine_name, e.directory, e.metadata, e.created_at,
         r.worker_type, r.last_seen_at, r.left_at
  FROM environment e JOIN bridge_registration r ON r.environment_id = e.id`;

export function toEnvironment(row: EnvironmentRow): Environment {
  return {
    id: row.id,
    organizationId: row.organization_id,
    accountId: row.account_id,
    machineName: row.machine_name,
    directory: row.directory,
    metadata: JSON.parse(row.metadata) as Json,
    workerType: row.worker_type,
    lastSeenAt: row.last_seen_at,
    leftAt: row.left_at,
    createdAt: row.created_at,
  };
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

/** `IN (...)` of states: the index of waiting work needs them in the text, in this order. */
export function oneOf(states: readonly WorkState[]): string {
  return `IN (${states.map((state) => `'${state}'`).join(', ')})`;
}

/** Prepares a read of the writer's connection; `Row` is what its text selects: nothing checks it. */
export function select<Row>(db: DatabaseSync, sql: string): Query<Row> {
  const statement = db.prepare(sql);
  return {
    get: (...parameters) => statement.get(...parameters) as Row | undefined,
    all: (...parameters) => statement.all(...parameters) as Row[],
  };
}
