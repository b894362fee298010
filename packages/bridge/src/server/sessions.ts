import { nextTick } from 'node:process';
import { pageOf, readPage, ServiceError, toTimestamp, type Page } from '@sallyport/core';
import type {
  CreateSessionRequest,
  NewEvent,
  SessionStatus,
  Session as WireSession,
} from '@sallyport/core/contract';
import type { ResumeFrom } from '../protocol/resume.ts';
import { shownAccounts } from './accounts.ts';
import { timing, type Context } from './context.ts';
import { environmentDeleted } from './environment-errors.ts';
import { followLog, type FollowerItem } from './follow.ts';
import { idempotencyOf } from './idempotency.ts';
import { draftEvents, noSuchSession } from './log.ts';
import type { Appended, Caller, ListedSession, Session } from './records.ts';
import type { PollQueue } from './queue.ts';
import type { Registry } from './registry.ts';
import { isFilter, isWanted, mostScanned, type SessionsAsked } from './session-filter.ts';
import { sessionStatus } from './states.ts';
import { sessionTopic, workTopic } from './topics.ts';

/** Sessions of the caller's organization; another's is `not_found`. */
export interface Sessions {
  /**
   * Creates session, first events and work together. The same account's same `idempotencyKey` within a day gives the
   * session that it made before; another request under that key is `invalid_request`. Throws `quota_exceeded`.
   */
  create(
    caller: Caller,
    request: CreateSessionRequest,
    options?: { readonly idempotencyKey?: string | undefined },
  ): Promise<WireSession>;
  get(caller: Caller, id: string): Promise<WireSession>;
  /** Newest first. A page of a filtered list may be short, or empty, though there is a next one. */
  list(caller: Caller, query: SessionsAsked): Promise<Page<WireSession>>;
  /** For who created it, the account of its environment and admins: else `forbidden`. */
  delete(caller: Caller, id: string): Promise<{ readonly id: string; readonly deleted: true }>;
  /** Throws `session_ended` and `quota_exceeded`. */
  append(
    caller: Caller,
    id: string,
    events: readonly NewEvent[],
  ): Promise<{ readonly events: readonly Appended[] }>;
  follow(
    caller: Caller,
    id: string,
    options: { readonly from: ResumeFrom; readonly signal: AbortSignal },
  ): Promise<AsyncIterable<FollowerItem>>;
}

export function createSessions(
  context: Context,
  { registry, queue }: { readonly registry: Registry; readonly queue: PollQueue },
): Sessions {
  const { store, accounts, ids, presence, wakeups } = context;

  async function visible(caller: Caller, sessionId: string): Promise<Session> {
    const session = await store.reads.session({ sessionId });
    if (session?.organizationId === caller.organizationId) return session;
    throw noSuchSession(sessionId);
  }

  async function refuseForeign(caller: Caller, { accountId, environmentId }: Session): Promise<void> {
    if (accountId === caller.accountId || caller.isAdmin) return;
    const environment = await store.reads.environment({ environmentId });
    if (environment?.accountId !== caller.accountId)
      throw new ServiceError('forbidden', 'The session is of another account: ask its owner or an admin.');
  }

  return {
    async create(caller, request, { idempotencyKey } = {}) {
      const { archivedAt, registration } = await registry.visible(caller, request.environment_id);
      if (archivedAt !== null) throw environmentDeleted('archived');
      const session = {
        id: ids.next('session'),
        workId: ids.next('work'),
        accountId: caller.accountId,
        organizationId: caller.organizationId,
        environmentId: request.environment_id,
        title: request.title,
        tags: request.tags,
        context: request.session_context,
      };
      const { now, terms } = timing(context);
      const events = draftEvents(request.events, ids);
      const idempotency = idempotencyOf(context, idempotencyKey, request);
      const creating = store.acts.createSession({ ...session, events, now, terms, idempotency });
      queue.expect(request.environment_id);
      const { id, isNew } = await creating;
      if (!isNew) return toWire(await visible(caller, id));
      wakeups.notify(workTopic(request.environment_id));
      // The poll that was granted the item by the same commit is answered first: a worker waits for it.
      await new Promise<void>((resolve) => nextTick(resolve));
      return toWire({ ...session, createdAt: now, updatedAt: now, workState: 'queued', seen: registration });
    },

    async get(caller, id) {
      const session = await visible(caller, id);
      const [head, [shown]] = await Promise.all([
        store.reads.sessionHead({ sessionId: id }),
        toWireWithEmails([session]),
      ]);
      return {
        ...(shown ?? toWire(session)),
        session_context: session.context,
        last_seq: head?.lastSeq ?? 0,
      };
    },

    async list({ organizationId }, { accountId, limit, offset, ...filter }) {
      const scanned = await readPage(
        { limit: isFilter(filter) ? Math.max(limit, mostScanned) : limit, offset },
        (part) => store.reads.sessions({ organizationId, accountId, ...part }),
      );
      const wanted = scanned.items.filter((each) => isWanted(each, statusOf(each), filter));
      const { items, next } = pageOf({ items: wanted.slice(0, limit), isLast: wanted.length <= limit });
      return { items: await toWireWithEmails(items), next: next ?? scanned.next };
    },

    async delete(caller, id) {
      await refuseForeign(caller, await visible(caller, id));
      await store.acts.deleteSession({ sessionId: id });
      wakeups.notify(sessionTopic(id));
      return { id, deleted: true };
    },

    async append(caller, id, events) {
      await visible(caller, id);
      const drafts = draftEvents(events, ids);
      const appended = await store.acts.appendEvents({
        sessionId: id,
        from: { accountId: caller.accountId },
        events: drafts,
        ...timing(context),
      });
      wakeups.notify(sessionTopic(id));
      return { events: appended };
    },

    async follow(caller, id, { from, signal }) {
      await visible(caller, id);
      const head = await store.reads.sessionHead({ sessionId: id });
      if (!head) throw noSuchSession(id);
      return followLog(context, id, head, { from, signal });
    },
  };

  function statusOf({ environmentId, workState, seen }: ListedSession): SessionStatus {
    return sessionStatus(workState, seen !== null && presence.status(environmentId, seen) === 'online');
  }

  async function toWireWithEmails(sessions: readonly ListedSession[]): Promise<WireSession[]> {
    const shown = await shownAccounts(
      accounts,
      sessions.map(({ accountId }) => accountId),
    );
    return sessions.map((session) => ({ ...toWire(session), account: shown(session.accountId) }));
  }

  /** Who created it by id alone: whoever has just created one waits for no look-up. */
  function toWire(session: ListedSession): WireSession {
    return {
      id: session.id,
      title: session.title,
      environment_id: session.environmentId,
      work_id: session.workId,
      status: statusOf(session),
      tags: [...session.tags],
      account: { id: session.accountId },
      created_at: toTimestamp(session.createdAt),
      updated_at: toTimestamp(session.updatedAt),
    };
  }
}
