import type { SessionStatus } from '@sallyport/core/contract';
import type { ListedSession } from './records.ts';

/** Which sessions a list is to have; what is left out leaves none out. */
export interface SessionFilter {
  readonly environmentId?: string | undefined;
  readonly statuses?: readonly SessionStatus[] | undefined;
  readonly tag?: string | undefined;
}

export interface SessionsAsked extends SessionFilter {
  readonly limit: number;
  readonly offset?: string | undefined;
  /** Only those that this account created: an index leads to them. */
  readonly accountId?: string | undefined;
}

/** How many sessions one page of a filtered list looks at: a filter that fits few must not read the whole store. */
export const mostScanned = 1000;

export function isFilter({ environmentId, statuses, tag }: SessionFilter): boolean {
  return environmentId !== undefined || statuses !== undefined || tag !== undefined;
}

/** Judged here and not in the store: what the status is depends on who was heard of in this very moment. */
export function isWanted(
  session: ListedSession,
  status: SessionStatus,
  { environmentId, statuses, tag }: SessionFilter,
): boolean {
  return (
    (environmentId === undefined || session.environmentId === environmentId) &&
    (statuses === undefined || statuses.includes(status)) &&
    (tag === undefined || session.tags.includes(tag))
  );
}
