import type { DatabaseSync } from 'node:sqlite';
import {
  judgeAppend,
  judgeAttach,
  judgeEpoch,
  judgeExit,
  judgeLiveSessions,
  judgeLogBytes,
  judgeOpen,
  judgeOverflow,
  judgeReconnect,
  judgeSessionLogBytes,
  judgeTakeOver,
  type BridgeActs,
  type Quota,
  type WorkerAttached,
} from '@sallyport/bridge/storage';
import { ServiceError } from '@sallyport/core';
import type { Sync } from './acts.ts';
import { earlierIn } from './bridge-idempotency.ts';
import type { LogRemoval } from './bridge-log-removal.ts';
import type { SessionLog } from './bridge-log.ts';
import { isIdle, isRunning } from './bridge-rows.ts';
import { noSuchEnvironment, noSuchSession } from './bridge-unknown.ts';
import { select } from './query.ts';

type SessionActs = Pick<
  BridgeActs,
  | 'createSession'
  | 'reconnectSession'
  | 'takeOverSession'
  | 'attachWorker'
  | 'renewWorkers'
  | 'appendEvents'
  | 'forgetSender'
>;

export function sessionActs(
  db: DatabaseSync,
  log: SessionLog,
  removal: Pick<LogRemoval, 'trim'>,
): Sync<SessionActs> {
  const takesSessions = select(db, 'SELECT 1 FROM environment WHERE id = ? AND archived_at IS NULL');
  const earlierSession = earlierIn(db, 'session');
  const insertSession = db.prepare(
    `INSERT INTO session (id, organization_id, account_id, environment_id, work_id, title, tags, context,
       idempotency_key, fingerprint, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertWork = db.prepare(
    `INSERT INTO work (id, environment_id, session_id, type, state, created_at)
     VALUES (?, ?, ?, 'session', 'queued', ?)`,
  );
  const liveSessions = select<{ count: number }>(
    db,
    // CROSS JOIN: not by the organization's sessions, of which most have ended.
    `SELECT count(*) AS count FROM (
       SELECT 1 FROM (
         SELECT session_id FROM work WHERE ${isIdle} UNION ALL SELECT session_id FROM work WHERE ${isRunning}) live
       CROSS JOIN session s ON s.id = live.session_id WHERE s.organization_id = ? LIMIT ?)`,
  );
  const usage = select<{ log_bytes: number }>(
    db,
    'SELECT log_bytes FROM session_usage WHERE organization_id = ?',
  );
  const setEpoch = db.prepare('UPDATE session SET epoch = ?, worker_seen_at = NULL WHERE id = ?');
  const openStream = select<WorkerAttached>(
    db,
    `UPDATE session SET stream = stream + 1, worker_seen_at = ? WHERE id = ?
     RETURNING stream, last_seq AS lastSeq, oldest_seq AS oldestSeq, taken_seq AS takenSeq`,
  );
  const endStream = db.prepare('UPDATE session SET worker_seen_at = NULL WHERE id = ? AND stream = ?');
  const takeEvents = db.prepare(
    `UPDATE session SET taken_seq = max(taken_seq, min(?, last_seq)), worker_seen_at = max(worker_seen_at, ?)
     WHERE id = ? AND epoch = ?`,
  );
  const renewLease = db.prepare(
    "UPDATE work SET deadline = max(deadline, ?) WHERE session_id = ? AND state = 'active'",
  );

  const forgetSender = db.prepare(
    `UPDATE session_event SET account_id = NULL WHERE (session_id, seq) IN
       (SELECT session_id, seq FROM session_event WHERE account_id = ? LIMIT ?)`,
  );

  const judgeUsage = (organizationId: string, quota: Quota) => {
    if (quota.logBytes > 0) judgeLogBytes(usage.get(organizationId)?.log_bytes ?? 0, quota);
  };

  return {
    createSession(given) {
      const { id, workId, accountId, organizationId, environmentId, title, idempotency, now } = given;
      const { quota } = given.terms;
      if (!takesSessions.get(environmentId)) throw noSuchEnvironment();
      const earlier = earlierSession(given);
      if (earlier !== undefined) return { id: earlier, isNew: false };
      judgeUsage(organizationId, quota);
      if (quota.liveSessions > 0)
        judgeLiveSessions(liveSessions.get(organizationId, quota.liveSessions)?.count ?? 0, quota);
      const tags = JSON.stringify(given.tags);
      const context = JSON.stringify(given.context);
      const { key = null, fingerprint = null } = idempotency ?? {};
      const whose = [id, organizationId, accountId, environmentId, workId] as const;
      insertSession.run(...whose, title, tags, context, key, fingerprint, now, now);
      insertWork.run(workId, environmentId, id, now);
      log.append(id, { origin: 'client', accountId }, given.events, now);
      return { id, isNew: true };
    },

    reconnectSession({ environmentId, sessionId, provenEpoch, ...given }) {
      const { work_id, epoch, worker_seen_at: seenAt } = log.head(sessionId);
      const work = log.work(work_id);
      if (work.environmentId !== environmentId)
        throw new ServiceError('not_found', 'The environment has no such session.');
      const verdict = judgeReconnect(work, { seenAt, isProven: provenEpoch === epoch }, given);
      return log.settle(work, verdict, given.now);
    },

    takeOverSession({ sessionId, provenEpoch }) {
      const head = log.head(sessionId);
      const epoch = judgeTakeOver(log.work(head.work_id), head.epoch, provenEpoch);
      if (epoch !== head.epoch) setEpoch.run(epoch, sessionId);
      return { epoch, hasNewWorker: epoch !== head.epoch };
    },

    attachWorker({ sessionId, epoch, ...given }) {
      const head = log.head(sessionId);
      judgeEpoch(head.epoch, epoch);
      const work = log.work(head.work_id);
      log.settle(work, judgeAttach(work, given), given.now);
      const attached = openStream.get(given.now, sessionId);
      if (!attached) throw noSuchSession();
      return attached;
    },

    renewWorkers({ renewals, leaseMs }) {
      for (const { sessionId, epoch, at, takenSeq, endedStream } of renewals) {
        if (takeEvents.run(takenSeq, at, sessionId, epoch).changes === 1)
          renewLease.run(at + leaseMs, sessionId);
        if (endedStream !== undefined) endStream.run(sessionId, endedStream);
      }
    },

    appendEvents({ sessionId, from, events, ...given }) {
      const head = log.head(sessionId);
      const { maxSessionLogBytes } = given.terms;
      if ('accountId' in from) {
        judgeUsage(head.organization_id, given.terms.quota);
        judgeOpen(log.work(head.work_id));
        if (maxSessionLogBytes > 0)
          judgeSessionLogBytes(removal.trim(sessionId, maxSessionLogBytes), maxSessionLogBytes);
        return log.append(sessionId, { origin: 'client', accountId: from.accountId }, events, given.now);
      }
      judgeEpoch(head.epoch, from.epoch);
      const work = log.work(head.work_id);
      const count = judgeAppend(work, events);
      const appended = log.append(sessionId, { origin: 'worker' }, events.slice(0, count), given.now);
      const last = events[count - 1];
      const hasExited = last?.type === 'worker.exited';
      if (hasExited) log.settle(work, judgeExit(work, last.data['exit_code'], given), given.now);
      if (maxSessionLogBytes > 0) {
        const overflow = judgeOverflow(work, removal.trim(sessionId, maxSessionLogBytes), given);
        if (overflow && !hasExited) {
          log.settle(work, overflow, given.now);
          removal.trim(sessionId, maxSessionLogBytes); // nobody is to take it any more
        }
      }
      // An acknowledgement may have got lost: what was stored before the end is told again.
      const known = events.slice(count).flatMap(({ id }) => {
        const seq = log.seqOf(sessionId, id);
        return seq === undefined ? [] : [{ id, seq }];
      });
      return [...appended, ...known];
    },

    forgetSender: ({ accountId, limit }) => Number(forgetSender.run(accountId, limit).changes),
  };
}
