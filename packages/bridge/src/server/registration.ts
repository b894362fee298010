import { isId, ServiceError, toTimestamp } from '@sallyport/core';
import { hasLeft } from './presence.ts';
import type { Caller, Environment } from './records.ts';

/** What the store knows about the environment that a registration may mean. */
export interface RegistrationFacts {
  /** The id that the client sent. */
  readonly sentId: string | undefined;
  readonly bySentId: Environment | undefined;
  /** The organization that deleted an environment of that id. */
  readonly deletedBy: string | undefined;
  /** The caller's environment of the same device, machine name and directory. */
  readonly byPlace: Environment | undefined;
}

/**
 * Which environment a registration is for: the sent one if it is the caller's or free, else the one of the same place, so
 * that a restart never makes a second; else a new one (`undefined`). Another's id is not told from an unknown one.
 */
export function judgeRegistration(
  facts: RegistrationFacts,
  caller: Pick<Caller, 'accountId' | 'organizationId'>,
  given: { readonly now: number; readonly ttlMs: number },
): string | undefined {
  const { sentId, bySentId, deletedBy, byPlace } = facts;
  const isOwn = bySentId?.accountId === caller.accountId && bySentId.organizationId === caller.organizationId;
  const isFree = bySentId === undefined && (deletedBy === undefined || deletedBy === caller.organizationId);
  if (sentId !== undefined && isId('env', sentId) && (isOwn || isFree)) {
    if (bySentId) refuseLive(bySentId, given);
    return sentId;
  }
  if (byPlace) refuseLive(byPlace, given);
  return byPlace?.id;
}

function refuseLive(environment: Environment, { now, ttlMs }: { now: number; ttlMs: number }): void {
  const lapsesInMs = environment.lastSeenAt + ttlMs - now;
  if (hasLeft(environment) || (ttlMs > 0 && lapsesInMs <= 0)) return;
  throw new ServiceError('already_registered', 'The environment is registered already.', {
    details: {
      environment_id: environment.id,
      last_seen_at: toTimestamp(environment.lastSeenAt),
      ...(ttlMs > 0 && { retry_after_ms: lapsesInMs }),
    },
  });
}
