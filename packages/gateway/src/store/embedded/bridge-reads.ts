import {
  foldCase,
  type BridgeReads,
  type Json,
  type ListedSession,
  type Session,
  type StoredEvent,
} from '@sallyport/bridge/storage';
import type { EnvironmentStatus, WorkState } from '@sallyport/core/contract';
import {
  isIdle,
  isRunning,
  isWaiting,
  selectEnvironment,
  toEnvironment,
  toRegistered,
  type EnvironmentRow,
} from './bridge-rows.ts';
import type { Reader } from './reader.ts';
import { shareReads } from './shared-reads.ts';

type PageQuery = Parameters<BridgeReads['events']>[0];
type LogPage = Awaited<ReturnType<BridgeReads['events']>>;

interface SessionRow {
  readonly id: string;
  readonly organization_id: string;
  readonly account_id: string;
  readonly environment_id: string;
  readonly work_id: string;
  readonly title: string;
  readonly tags: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly state: WorkState;
  readonly last_seen_at: number | null;
  readonly left_at: number | null;
}

interface WholeSessionRow extends SessionRow {
  readonly context: string;
}

interface EventRow {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly created_at: number;
}

const sessionColumns = `s.id, s.organization_id, s.account_id, s.environment_id, s.work_id, s.title, s.tags,
  s.created_at, s.updated_at, w.state, r.last_seen_at, r.left_at`;
const fromSessions = `FROM session s JOIN work w ON w.id = s.work_id
  LEFT JOIN bridge_registration r ON r.environment_id = s.environment_id`;
const selectListed = `SELECT ${sessionColumns} ${fromSessions}`;
const selectSession = `SELECT ${sessionColumns}, s.context ${fromSessions}`;

/** Where a list begins that has no place to go on from. */
const newest = { createdAt: Number.MAX_SAFE_INTEGER, id: '' };
/** Behind every id of a session, which are ASCII. */
const lastId = '\u{10FFFF}';

/** The bridge's bounded reads on SQLite. */
export function bridgeReads(reader: Reader): BridgeReads {
  const environmentById = reader.query<EnvironmentRow>(`${selectEnvironment} WHERE e.id = ?`);
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
  const sessionById = reader.query<WholeSessionRow>(`${selectSession} WHERE s.id = ?`);
  const sessionsListed = reader.query<SessionRow>(
    `${selectListed} WHERE s.organization_id = ? AND (s.created_at, s.id) < (?, ?)
     ORDER BY s.created_at DESC, s.id DESC LIMIT ?`,
  );
  const sessionsCreated = reader.query<SessionRow>(
    `${selectListed} WHERE s.account_id = ? AND s.organization_id = ? AND s.id < ? ORDER BY s.id DESC LIMIT ?`,
  );
  const environmentsOf = reader.query<EnvironmentRow>(
    `${selectEnvironment} WHERE e.account_id = ? AND e.id > ? ORDER BY e.id LIMIT ?`,
  );
  const environmentsIn = reader.query<EnvironmentRow>(
    `${selectEnvironment} WHERE e.organization_id = ? ORDER BY e.created_at, e.id LIMIT ?`,
  );
  const sessionsOf = reader.query<SessionRow>(
    `${selectListed} WHERE s.account_id = ? AND (s.organization_id, s.id) > (?, ?)
     ORDER BY s.organization_id, s.id LIMIT ?`,
  );
  const headById = reader.query<{
    epoch: number;
    last_seq: number;
    oldest_seq: number;
    worker_seen_at: number | null;
    state: WorkState;
    reason: string | null;
    is_gone: number;
  }>(
    `SELECT s.epoch, s.last_seq, s.oldest_seq, s.worker_seen_at, w.state, w.reason,
            NOT EXISTS (SELECT 1 FROM bridge_registration r WHERE r.environment_id = s.environment_id) AS is_gone
     FROM session s JOIN work w ON w.id = s.work_id WHERE s.id = ?`,
  );
  // Sizes first: a page must not load more data than it gives.
  const sizesAfter = reader.query<{ seq: number; bytes: number; origin: string }>(
    `SELECT seq, origin, octet_length(data) AS bytes FROM session_event WHERE session_id = ? AND seq > ?
     ORDER BY seq LIMIT ?`,
  );
  const eventsBetween = reader.query<EventRow>(
    `SELECT seq, id, type, data, created_at FROM session_event
     WHERE session_id = ? AND seq > ? AND seq <= ? AND origin <> ? ORDER BY seq`,
  );
  // By the indexes of those alone: a store has far more work that has ended.
  const liveWork = reader.query<{ state: WorkState; count: number }>(
    `SELECT state, count(*) AS count FROM work WHERE ${isIdle} GROUP BY state
     UNION ALL SELECT state, count(*) FROM work WHERE ${isRunning} GROUP BY state`,
  );
  const environmentsSeen = reader.query<{ status: EnvironmentStatus; count: number }>(
    `SELECT CASE WHEN left_at >= last_seen_at THEN 'offline' WHEN last_seen_at > ? THEN 'online'
                 WHEN last_seen_at > ? THEN 'disconnected' ELSE 'offline' END AS status, count(*) AS count
     FROM bridge_registration WHERE last_seen_at > ? GROUP BY status`,
  );
  const shared = shareReads(reader);

  function readPage({ sessionId, after, maxEvents, maxBytes, without }: PageQuery): LogPage {
    const leftOut: string = without ?? '';
    let scannedTo = after;
    let bytes = 0;
    for (const size of sizesAfter.all(sessionId, after, maxEvents)) {
      bytes += size.origin === leftOut ? 0 : size.bytes;
      if (bytes > maxBytes && scannedTo > after) break;
      scannedTo = size.seq;
    }
    const rows = scannedTo > after ? eventsBetween.all(sessionId, after, scannedTo, leftOut) : [];
    return { events: rows.map(toEvent), scannedTo };
  }

  return {
    environment({ environmentId }) {
      const row = environmentById.get(environmentId);
      return Promise.resolve(row && toEnvironment(row));
    },

    deletedEnvironment: ({ environmentId }) =>
      Promise.resolve(tombstoneById.get(environmentId)?.organization_id),

    environments({ organizationId, workerTypes, seenSince, limit, before }) {
      const { createdAt, id } = before ?? newest;
      const types = JSON.stringify(workerTypes);
      const rows = listed.all(organizationId, createdAt, id, seenSince, types, limit);
      return Promise.resolve(
        rows.flatMap((row) =>
          toRegistered(row).map((environment) => ({ ...environment, activeSessions: row.active_sessions })),
        ),
      );
    },

    managedEnvironments({ organizationId, name = '', limit, before }) {
      const { createdAt, id } = before ?? newest;
      const rows = managed.all(organizationId, createdAt, id, foldCase(name), limit);
      return Promise.resolve(rows.map(toEnvironment));
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

    session({ sessionId }) {
      const row = sessionById.get(sessionId);
      return Promise.resolve(row && toSession(row));
    },

    sessions({ organizationId, accountId, limit, before }) {
      const { createdAt, id } = before ?? newest;
      const rows =
        accountId === undefined
          ? sessionsListed.all(organizationId, createdAt, id, limit)
          : sessionsCreated.all(accountId, organizationId, before?.id ?? lastId, limit);
      return Promise.resolve(rows.map(toListed));
    },

    accountEnvironments: ({ accountId, after, limit }) =>
      Promise.resolve(environmentsOf.all(accountId, after?.id ?? '', limit).map(toEnvironment)),

    accountSessions: ({ accountId, after, limit }) =>
      Promise.resolve(
        sessionsOf.all(accountId, after?.organizationId ?? '', after?.id ?? '', limit).map(toListed),
      ),

    organizationEnvironments: ({ organizationId, limit }) =>
      Promise.resolve(environmentsIn.all(organizationId, limit).map(toEnvironment)),

    sessionHead({ sessionId }) {
      const row = shared(`head,${sessionId}`, () => headById.get(sessionId));
      return Promise.resolve(
        row && {
          epoch: row.epoch,
          lastSeq: row.last_seq,
          oldestSeq: row.oldest_seq,
          workerSeenAt: row.worker_seen_at,
          workState: row.state,
          workReason: row.reason,
          environmentGone: row.is_gone === 1,
        },
      );
    },

    events(asked) {
      const { sessionId, after, maxEvents, maxBytes, without = '' } = asked;
      const question = ['events', sessionId, after, maxEvents, maxBytes, without].join();
      return Promise.resolve(shared(question, () => readPage(asked)));
    },

    counts({ onlineSince, disconnectedSince, listedSince }) {
      const seen = environmentsSeen.all(onlineSince, disconnectedSince, listedSince);
      return Promise.resolve({
        work: Object.fromEntries(liveWork.all().map(({ state, count }) => [state, count])),
        environments: Object.fromEntries(seen.map(({ status, count }) => [status, count])),
      });
    },
  };
}

function toSession(row: WholeSessionRow): Session {
  return { ...toListed(row), context: JSON.parse(row.context) as Json };
}

function toListed(row: SessionRow): ListedSession {
  return {
    id: row.id,
    organizationId: row.organization_id,
    accountId: row.account_id,
    environmentId: row.environment_id,
    workId: row.work_id,
    title: row.title,
    tags: JSON.parse(row.tags) as string[],
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    workState: row.state,
    seen: row.last_seen_at === null ? null : { lastSeenAt: row.last_seen_at, leftAt: row.left_at },
  };
}

function toEvent({ seq, id, type, data, created_at }: EventRow): StoredEvent {
  return { seq, id, type, data: JSON.parse(data) as Json, createdAt: created_at };
}
