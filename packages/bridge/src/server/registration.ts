import { isId, ServiceError, toTimestamp } from '@sallyport/core';
import { hasLeft } from './presence.ts';
import type { Caller, Environment, Json } from './records.ts';

const defaultWorkerType = 'cowork';

/** What the store knows about the environment that a registration may mean. */
export interface RegistrationFacts {
  /** The id that the client sent. */
  readonly sentId: string | undefined;
  readonly bySentId: Environment | undefined;
  /** The organization that deleted an environment of that id, of late. */
  readonly deletedBy: string | undefined;
  /** The caller's environment of the same device, machine name and directory, unless it is archived. */
  readonly byPlace: Environment | undefined;
}

/**
 * Which environment a registration is for: the sent one if it is the caller's or free, else the one of the same place, so
 * that a restart never makes a second; else a new one (`undefined`). Another's id, and a deleted one, get that, too.
 */
export function judgeRegistration(
  facts: RegistrationFacts,
  caller: Pick<Caller, 'accountId' | 'organizationId' | 'workerKey'>,
  given: { readonly now: number; readonly ttlMs: number },
): string | undefined {
  const { sentId, bySentId, deletedBy, byPlace } = facts;
  const isOwn = bySentId?.accountId === caller.accountId && bySentId.organizationId === caller.organizationId;
  // What was deleted does not come back under its id: sessions and people know it as gone.
  const isFree = bySentId === undefined && deletedBy === undefined;
  const isActive = bySentId?.archivedAt === null;
  if (sentId !== undefined && isId('env', sentId) && ((isOwn && isActive) || isFree)) {
    if (bySentId) refuseLive(bySentId, caller, given);
    return sentId;
  }
  if (byPlace) refuseLive(byPlace, caller, given);
  return byPlace?.id;
}

/** What the environment is called after a registration: a managed one keeps the name that people know it by. */
export function registeredName(known: Environment | undefined, given: string): string {
  return known?.isManaged ? known.machineName : given;
}

/** What the environment's metadata become with a registration's: those of a managed one were set by others, and stay. */
export function registeredMetadata(known: Environment | undefined, given: Json): Json {
  return known?.isManaged ? { ...known.metadata, ...given } : given;
}

export function workerTypeOf(metadata: Json): string {
  const type = metadata['worker_type'];
  return typeof type === 'string' && type !== '' ? type : defaultWorkerType;
}

function refuseLive(
  { id, registration }: Environment,
  { workerKey }: Pick<Caller, 'workerKey'>,
  { now, ttlMs }: { readonly now: number; readonly ttlMs: number },
): void {
  if (!registration) return;
  const lapsesInMs = registration.lastSeenAt + ttlMs - now;
  if (hasLeft(registration) || (ttlMs > 0 && lapsesInMs <= 0)) return;
  throw new ServiceError('already_registered', 'The environment is registered already.', {
    details: {
      environment_id: id,
      last_seen_at: toTimestamp(registration.lastSeenAt),
      // The answer to its first call was lost: it has not to wait for itself.
      yours: registration.workerKey === workerKey,
      ...(ttlMs > 0 && { retry_after_ms: lapsesInMs }),
    },
  });
}
