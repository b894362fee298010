import type { BridgeReads, Json, ListedSession, Session, StoredEvent } from '@sallyport/bridge/storage';
import { readPart } from '@sallyport/core';
import type { WorkState } from '@sallyport/core/contract';
import { newest } from './bridge-rows.ts';
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
  readonly account_id: string | null;
  readonly created_at: number;
}

const sessionColumns = `s.id, s.organization_id, s.account_id, s.environment_id, s.work_id, s.title, s.tags,
  s.created_at, s.updated_at, w.state, r.last_seen_at, r.left_at`;
const fromSessions = `FROM session s JOIN work w ON w.id = s.work_id
  LEFT JOIN bridge_registration r ON r.environment_id = s.environment_id`;
const selectListed = `SELECT ${sessionColumns} ${fromSessions}`;
const selectSession = `SELECT ${sessionColumns}, s.context ${fromSessions}`;

/** Behind every id of a session, which are ASCII. */
const lastId = '\u{10FFFF}';

type SessionReads = Pick<
  BridgeReads,
  'session' | 'sessions' | 'accountSessions' | 'accountEvents' | 'sessionHead' | 'events'
>;

/** Sessions and their logs. */
export function sessionReads(reader: Reader): SessionReads {
  const sessionById = reader.query<WholeSessionRow>(`${selectSession} WHERE s.id = ?`);
  const sessionsListed = reader.query<SessionRow>(
    `${selectListed} WHERE s.organization_id = ? AND (s.created_at, s.id) < (?, ?)
     ORDER BY s.created_at DESC, s.id DESC LIMIT ?`,
  );
  const sessionsCreated = reader.query<SessionRow>(
    `${selectListed} WHERE s.account_id = ? AND s.organization_id = ? AND s.id < ? ORDER BY s.id DESC LIMIT ?`,
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
    `SELECT seq, id, type, account_id, data, created_at FROM session_event
     WHERE session_id = ? AND seq > ? AND seq <= ? AND origin <> ? ORDER BY seq`,
  );
  const eventsOf = reader.query<EventRow & { readonly session_id: string }>(
    `SELECT session_id, seq, id, type, account_id, data, created_at FROM session_event
     WHERE account_id = ? AND (session_id, seq) > (?, ?) ORDER BY session_id, seq LIMIT ?`,
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
    session({ sessionId }) {
      const row = sessionById.get(sessionId);
      return Promise.resolve(row && toSession(row));
    },

    sessions({ organizationId, accountId, limit, before }) {
      const { createdAt, id } = before ?? newest;
      const rows =
        accountId === undefined
          ? sessionsListed.each(organizationId, createdAt, id, limit + 1)
          : sessionsCreated.each(accountId, organizationId, before?.id ?? lastId, limit + 1);
      return Promise.resolve(readPart(rows, limit, toListed));
    },

    accountSessions({ accountId, after, limit }) {
      const rows = sessionsOf.each(accountId, after?.organizationId ?? '', after?.id ?? '', limit + 1);
      return Promise.resolve(readPart(rows, limit, toListed));
    },

    accountEvents({ accountId, after, limit }) {
      const rows = eventsOf.each(accountId, after?.sessionId ?? '', after?.seq ?? 0, limit + 1);
      return Promise.resolve(
        readPart(rows, limit, (row) => ({ ...toEvent(row), sessionId: row.session_id })),
      );
    },

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

function toEvent({ seq, id, type, account_id, data, created_at }: EventRow): StoredEvent {
  return { seq, id, type, accountId: account_id, data: JSON.parse(data) as Json, createdAt: created_at };
}
