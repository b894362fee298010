import type { DatabaseSync } from 'node:sqlite';
import { isFinal, type BridgeActs } from '@sallyport/bridge/storage';
import type { Sync } from './acts.ts';
import type { SessionLog } from './bridge-log.ts';
import { select } from './query.ts';

/** What takes events out of sessions' logs again, inside a transaction. */
export interface LogRemoval extends Pick<Sync<BridgeActs>, 'deleteSession' | 'expireLogs'> {
  /**
   * Takes the oldest events of a log that is larger, and some more, so that it need not be done at every event. Gives how
   * many bytes it has then.
   */
  readonly trim: (sessionId: string, maxBytes: number) => number;
}

/** Sessions that one act looks at. */
const sessionsAtATime = 200;
/** What is left of a log that was too large. */
const keptShare = 0.9;

interface SessionRow {
  readonly id: string;
  readonly organization_id: string;
  readonly account_id: string;
  readonly environment_id: string;
  readonly work_id: string;
  readonly oldest_seq: number;
  readonly taken_seq: number;
  readonly last_seq: number;
  readonly log_bytes: number;
  readonly created_at: number;
  readonly updated_at: number;
}

interface EventRow {
  readonly seq: number;
  readonly origin: string;
  readonly bytes: number;
  readonly created_at: number;
}

export function logRemoval(db: DatabaseSync, log: SessionLog): LogRemoval {
  const columns =
    'id, organization_id, account_id, environment_id, work_id, oldest_seq, taken_seq, last_seq, log_bytes, created_at, updated_at';
  const sessionById = select<SessionRow>(db, `SELECT ${columns} FROM session WHERE id = ?`);
  // Ids are ordered by time, so the oldest sessions come first.
  const sessionsAfter = db.prepare(`SELECT ${columns} FROM session WHERE id > ? ORDER BY id LIMIT ?`);
  const eventsFrom = db.prepare(
    `SELECT seq, origin, octet_length(data) AS bytes, created_at FROM session_event
     WHERE session_id = ? AND seq >= ? ORDER BY seq`,
  );
  const deleteEvents = db.prepare('DELETE FROM session_event WHERE session_id = ? AND seq <= ?');
  const setOldest = db.prepare('UPDATE session SET oldest_seq = ?, log_bytes = log_bytes - ? WHERE id = ?');
  const lessUsage = db.prepare(
    'UPDATE session_usage SET log_bytes = log_bytes - ? WHERE organization_id = ?',
  );
  const deleteWork = db.prepare('DELETE FROM work WHERE session_id = ?');
  const deleteRow = db.prepare('DELETE FROM session WHERE id = ?');

  /** Takes events from the old end as long as they `go`; gives what went. */
  function cut(
    session: SessionRow,
    go: (event: EventRow, bytesBefore: number) => boolean,
  ): { readonly count: number; readonly bytes: number } {
    let last: number | undefined;
    let bytes = 0;
    let count = 0;
    for (const row of eventsFrom.iterate(session.id, session.oldest_seq)) {
      const event = row as unknown as EventRow;
      if (!go(event, bytes)) break;
      last = event.seq;
      bytes += event.bytes;
      count += 1;
    }
    if (last === undefined) return { count, bytes };
    deleteEvents.run(session.id, last);
    setOldest.run(last + 1, bytes, session.id);
    lessUsage.run(bytes, session.organization_id);
    return { count, bytes };
  }

  function remove({ id, organization_id, log_bytes }: SessionRow): void {
    deleteEvents.run(id, Number.MAX_SAFE_INTEGER);
    lessUsage.run(log_bytes, organization_id);
    deleteWork.run(id);
    deleteRow.run(id);
  }

  const hasEnded = (session: SessionRow) => isFinal(log.work(session.work_id).state);
  /** Whether the worker of a session that goes on has yet to take it. */
  const isAwaited = ({ taken_seq }: SessionRow, { seq, origin }: EventRow) =>
    origin !== 'worker' && seq > taken_seq;

  return {
    deleteSession({ sessionId }) {
      const session = sessionById.get(sessionId);
      if (!session) return null;
      remove(session);
      const {
        account_id: accountId,
        organization_id: organizationId,
        environment_id: environmentId,
      } = session;
      return { accountId, organizationId, environmentId };
    },

    trim(sessionId, maxBytes) {
      const session = sessionById.get(sessionId);
      if (!session || session.log_bytes <= maxBytes) return session?.log_bytes ?? 0;
      const excess = session.log_bytes - Math.floor(maxBytes * keptShare);
      const ended = hasEnded(session);
      const { bytes: gone } = cut(
        session,
        (event, bytes) =>
          bytes < excess && event.seq < session.last_seq && (ended || !isAwaited(session, event)),
      );
      return session.log_bytes - gone;
    },

    expireLogs({ before, after, limit }) {
      const removed: string[] = [];
      let left = limit;
      let next = after;
      const sessions = sessionsAfter.all(after, sessionsAtATime) as unknown as SessionRow[];
      for (const session of sessions) {
        if (session.created_at >= before) return { removed, next: undefined };
        const ended = hasEnded(session);
        const isOver = ended && session.updated_at < before;
        let most = left;
        left -= cut(
          session,
          (event) =>
            most-- > 0 && (isOver || event.created_at < before) && (ended || !isAwaited(session, event)),
        ).count;
        if (left === 0) return { removed, next };
        if (isOver) {
          remove({ ...session, log_bytes: 0 });
          removed.push(session.id);
        }
        next = session.id;
      }
      return { removed, next: sessions.length < sessionsAtATime ? undefined : next };
    },
  };
}
