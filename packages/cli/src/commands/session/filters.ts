import type { Session, SessionStatus } from '@sallyport/core/contract';
import { startedByAccount, type Starter } from './started-by.ts';

/** Which sessions are wanted. */
export interface SessionFilters extends Starter {
  readonly environmentId?: string | undefined;
  readonly statuses: readonly SessionStatus[];
  readonly tag?: string | undefined;
}

export function toQuery({ environmentId, statuses, tag, own, email }: SessionFilters) {
  return {
    ...(own !== undefined && { account_id: own }),
    ...(email !== undefined && { account_email: email }),
    ...(environmentId !== undefined && { environment_id: environmentId }),
    ...(statuses.length > 0 && { status: statuses.join(',') }),
    ...(tag !== undefined && { tag }),
  };
}

/** Those that are wanted of what was answered: a service that does not know a filter gives all. */
export function fitting(
  sessions: readonly Session[],
  { environmentId, statuses, tag, ...who }: SessionFilters,
): readonly Session[] {
  return startedByAccount(sessions, who).filter(
    (each) =>
      (environmentId === undefined || each.environment_id === environmentId) &&
      (statuses.length === 0 || statuses.includes(each.status)) &&
      (tag === undefined || each.tags.includes(tag)),
  );
}
