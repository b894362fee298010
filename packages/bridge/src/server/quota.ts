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
