import { ServiceError } from '@sallyport/core';

/** What one organization may have at most; 0: any number. */
export interface Quota {
  readonly liveSessions: number;
  readonly logBytes: number;
}

/** Throws `quota_exceeded` where one more session would be too many. `live` need not be told beyond the quota. */
export function judgeLiveSessions(live: number, { liveSessions }: Quota): void {
  if (liveSessions === 0 || live < liveSessions) return;
  throw new ServiceError(
    'quota_exceeded',
    `The organization has ${liveSessions} ${liveSessions === 1 ? 'session that has' : 'sessions that have'} not ended, and may have no more: wait for one to end, or stop one.`,
    { details: { quota: 'live_sessions', limit: liveSessions } },
  );
}

/** Throws `quota_exceeded` where the organization's logs are full. */
export function judgeLogBytes(used: number, { logBytes }: Quota): void {
  if (logBytes === 0 || used < logBytes) return;
  throw new ServiceError(
    'quota_exceeded',
    `The organization's session logs have ${used} bytes, of ${logBytes}: delete sessions that nobody needs any more.`,
    { details: { quota: 'log_bytes', limit: logBytes } },
  );
}

/** Room for what a worker that is well has in flight, before it acknowledges it. */
const slackBytes = 16 * 1024 * 1024;

/** The most that one session's log has where its worker does not acknowledge what it gets; beyond, the session fails. */
export function mostLogBytes(maxSessionLogBytes: number): number {
  return maxSessionLogBytes + Math.max(maxSessionLogBytes, slackBytes);
}

/** Throws `quota_exceeded` where a session's log is full of what its worker has yet to take: nothing of that may go. */
export function judgeSessionLogBytes(used: number, limit: number): void {
  if (used <= limit) return;
  throw new ServiceError(
    'quota_exceeded',
    `The session's log has ${used} bytes, of ${limit}, that its worker has yet to take: wait until it does.`,
    { details: { quota: 'session_log_bytes', limit } },
  );
}
