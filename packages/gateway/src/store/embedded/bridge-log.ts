import type { DatabaseSync } from 'node:sqlite';
import type { Appended, EventDraft, Sender, Touched, Verdict, Work } from '@sallyport/bridge/storage';
import type { Ids } from '@sallyport/core';
import { selectWork, toWork, type WorkRow } from './bridge-rows.ts';
import { noSuchSession, noSuchWork } from './bridge-unknown.ts';
import { select } from './query.ts';

export interface LogHead {
  readonly epoch: number;
  readonly last_seq: number;
  readonly organization_id: string;
  readonly work_id: string;
  /** The last frame that is known of the open worker stream; null where none is open. */
  readonly worker_seen_at: number | null;
}

/** Sessions' logs and work items inside a transaction: what all acts that change them go through. */
export interface SessionLog {
  /** Throws `not_found`. */
  head(sessionId: string): LogHead;
  /** Throws `not_found`. */
  work(workId: string): Work;
  /** Numbers and inserts; an event whose id the session has keeps its first `seq`. */
  append(sessionId: string, sender: Sender, events: readonly EventDraft[], now: number): readonly Appended[];
  /** Where the log has an event of that id. */
  seqOf(sessionId: string, id: string): number | undefined;
  /** Saves what was decided about a work item, and what goes with it; without a verdict, the item stands as it is. */
  settle(before: Work, verdict: Verdict | undefined, now: number): Touched;
}

export function createSessionLog(db: DatabaseSync, ids: Ids): SessionLog {
  const headById = select<LogHead>(
    db,
    'SELECT epoch, last_seq, organization_id, work_id, worker_seen_at FROM session WHERE id = ?',
  );
  const workById = select<WorkRow>(db, `${selectWork} WHERE id = ?`);
  const insertEvent = db.prepare(
    `INSERT INTO session_event (session_id, seq, id, type, origin, account_id, data, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (session_id, id) DO NOTHING`,
  );
  const seqById = select<{ seq: number }>(
    db,
    'SELECT seq FROM session_event WHERE session_id = ? AND id = ?',
  );
  const updateHead = db.prepare(
    'UPDATE session SET last_seq = ?, updated_at = ?, log_bytes = log_bytes + ? WHERE id = ?',
  );
  const addUsage = db.prepare(
    `INSERT INTO session_usage (organization_id, log_bytes) VALUES (?, ?)
     ON CONFLICT (organization_id) DO UPDATE SET log_bytes = log_bytes + excluded.log_bytes`,
  );
  const raiseEpoch = db.prepare('UPDATE session SET epoch = epoch + 1, worker_seen_at = NULL WHERE id = ?');
  const updateWork = db.prepare(
    `UPDATE work SET state = ?, deadline = ?, deliveries = ?, attempt = ?, acked_by = ?, attached = ?, reason = ?
     WHERE id = ?`,
  );

  const seqOf = (sessionId: string, id: string) => seqById.get(sessionId, id)?.seq;

  function head(sessionId: string): LogHead {
    const row = headById.get(sessionId);
    if (!row) throw noSuchSession();
    return row;
  }

  function append(sessionId: string, sender: Sender, events: readonly EventDraft[], now: number): Appended[] {
    const { last_seq: first, organization_id: organizationId } = head(sessionId);
    const accountId = sender.origin === 'client' ? sender.accountId : null;
    let last = first;
    let bytes = 0;
    const appended = events.map(({ id, type, data }) => {
      const text = JSON.stringify(data);
      const { changes } = insertEvent.run(sessionId, last + 1, id, type, sender.origin, accountId, text, now);
      if (changes !== 1) return { id, seq: seqOf(sessionId, id) ?? 0 };
      bytes += Buffer.byteLength(text);
      return { id, seq: ++last };
    });
    if (last === first) return appended;
    updateHead.run(last, now, bytes, sessionId);
    addUsage.run(organizationId, bytes);
    return appended;
  }

  function save({ work, raisesEpoch, announcements }: Verdict, now: number): void {
    const { state, deadline, deliveries, attempt, ackedBy, attached, reason, id } = work;
    updateWork.run(state, deadline, deliveries, attempt, ackedBy, attached ? 1 : 0, reason, id);
    if (raisesEpoch) raiseEpoch.run(work.sessionId);
    const events = announcements.map((announcement) => ({ id: ids.next('evt'), ...announcement }));
    if (events.length > 0) append(work.sessionId, { origin: 'service' }, events, now);
  }

  return {
    head,
    append,
    seqOf,
    work(workId) {
      const row = workById.get(workId);
      if (!row) throw noSuchWork();
      return toWork(row);
    },
    settle(before, verdict, now) {
      if (verdict) save(verdict, now);
      const { id: workId, sessionId, environmentId, state } = verdict?.work ?? before;
      return { workId, sessionId, environmentId, state };
    },
  };
}
