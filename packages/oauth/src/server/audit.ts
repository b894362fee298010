import { badOffset, decodePlace, pageOf, toTimestamp, type Page } from '@sallyport/core';
import type { AuditAction } from '@sallyport/core/contract';
import type { AuditEntry, CallOrigin, NewAuditEntry } from './audit-entry.ts';
import type { Context } from './context.ts';
import type { OAuthStore } from './ports.ts';

export interface AuditQuery {
  readonly limit: number;
  /** Of the page before. */
  readonly offset?: string | undefined;
  /** The id of an actor, or an account's e-mail address. */
  readonly actor?: string | undefined;
  readonly action?: AuditAction | undefined;
  /** Epoch milliseconds: from then on, and before then. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** What happened to accounts and organizations, and who did it. Acts write their entries themselves. */
export interface Audit {
  /** What an organization's admins may see, newest first. Throws `invalid_request` for a bad offset. */
  query(organizationId: string, query: AuditQuery): Promise<Page<AuditEntry>>;
  /** What happened in the whole installation. */
  queryAll(query: AuditQuery): Promise<Page<AuditEntry>>;
  /** Writes what no act of the store stands for. */
  record(entry: Pick<NewAuditEntry, 'action'> & Partial<NewAuditEntry>): Promise<void>;
}

export function createAudit({ store }: Context): Audit {
  const { acts, reads } = store;

  async function query(organizationId: string | undefined, asked: AuditQuery): Promise<Page<AuditEntry>> {
    const { limit, offset, actor, action, since, until } = asked;
    const place = offset === undefined ? undefined : decodePlace(offset);
    // One of another list's would be a place that no entry is at.
    if (place && !/^\d+$/.test(place.id)) throw badOffset();
    const account = actor?.includes('@')
      ? await reads.accountByEmail({ email: actor.toLowerCase() })
      : undefined;
    const { items: entries, isLast } = await reads.auditEntries({
      organizationId,
      actorId: account?.id ?? actor,
      action,
      since,
      until,
      before: place && { at: place.createdAt, id: Number(place.id) },
      limit,
    });
    const places = entries.map(({ at, id }) => ({ createdAt: at, id: String(id) }));
    return { items: entries, next: pageOf({ items: places, isLast }).next };
  }

  return {
    query,
    queryAll: (asked) => query(undefined, asked),
    record: (entry) =>
      acts.recordAudit({
        entry: {
          outcome: 'done',
          by: 'unknown',
          accountId: null,
          organizationId: null,
          subject: null,
          details: {},
          ...entry,
        },
      }),
  };
}

/** An audit entry as admins, operators and exports get it. */
export function shownAuditEntry(entry: AuditEntry) {
  const { id, at, action, outcome, accountId, organizationId, subject, details, address, requestId } = entry;
  return {
    id: String(id),
    at: toTimestamp(at),
    action,
    outcome,
    actor: { type: entry.actorType, id: entry.actorId, email: entry.actorEmail },
    account: accountId === null ? null : { id: accountId, email: entry.accountEmail },
    organization_id: organizationId,
    subject,
    details: { ...details },
    address,
    request_id: requestId,
  };
}

/** The store, each of whose acts carries who is calling and when. */
export function stampedStore(
  store: OAuthStore,
  { now, callOrigin }: { readonly now: () => number; readonly callOrigin: () => CallOrigin | undefined },
): OAuthStore {
  const given = store.acts as unknown as Readonly<Record<string, (argument: object) => unknown>>;
  const acts = Object.keys(given).map((name) => [
    name,
    (argument: object) => given[name]?.({ ...argument, stamp: { at: now(), ...callOrigin() } }),
  ]);
  return { reads: store.reads, acts: Object.fromEntries(acts) as OAuthStore['acts'] };
}
