import type { Session, SessionStatus } from '@sallyport/core/contract';
import { startedByOwn } from './started-by.ts';

/** Which sessions are wanted. */
export interface SessionFilters {
  readonly environmentId?: string | undefined;
  readonly statuses: readonly SessionStatus[];
  readonly tag?: string | undefined;
  /** The account that started them. */
  readonly own?: string | undefined;
}

export function toQuery({ environmentId, statuses, tag, own }: SessionFilters) {
  return {
    ...(own !== undefined && { account_id: own }),
    ...(environmentId !== undefined && { environment_id: environmentId }),
    ...(statuses.length > 0 && { status: statuses.join(',') }),
    ...(tag !== undefined && { tag }),
  };
}

/** Those that are wanted of what was answered: a service that does not know a filter gives all. */
export function fitting(
  sessions: readonly Session[],
  { environmentId, statuses, tag, own }: SessionFilters,
): readonly Session[] {
  return (own === undefined ? sessions : startedByOwn(sessions, own)).filter(
    (each) =>
      (environmentId === undefined || each.environment_id === environmentId) &&
      (statuses.length === 0 || statuses.includes(each.status)) &&
      (tag === undefined || each.tags.includes(tag)),
  );
}
