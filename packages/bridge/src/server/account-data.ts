import { toTimestamp, type AccountEmails, type AccountData, type Clock, type Part } from '@sallyport/core';
import { workTerms, type BridgeConfig } from './config.ts';
import { eraseAll, pageItems } from './erase-all.ts';
import { toSessionEvents } from './log.ts';
import type { BridgeStore } from './ports.ts';
import { presenceOf } from './presence.ts';
import type { Environment, ListedSession, SentEvent, Session } from './records.ts';
import { sessionStatus } from './states.ts';

/** Of a session's events in one read. */
const pageBytes = 1024 * 1024;
/** An act that changes more would hold others up. */
const forgottenAtATime = 1000;

/**
 * What the bridge keeps of an account: the environments that it registered or created, and the sessions that it created.
 * Other people's sessions in its environments are theirs, and stay; their work is stopped. What it said in other people's
 * sessions is exported with it, and stays there without its author.
 */
export function createBridgeAccountData({
  store,
  accounts,
  clock,
  config,
}: {
  readonly store: BridgeStore;
  readonly accounts: AccountEmails;
  readonly clock: Clock;
  readonly config: BridgeConfig;
}): AccountData {
  const { acts, reads } = store;
  const terms = workTerms(config);

  async function* environments(accountId: string): AsyncIterable<object> {
    for await (const one of all<Environment>((after) =>
      reads.accountEnvironments({ accountId, after, limit: pageItems }),
    ))
      yield {
        id: one.id,
        organization_id: one.organizationId,
        machine_name: one.machineName,
        directory: one.directory,
        metadata: one.metadata,
        created_at: toTimestamp(one.createdAt),
        updated_at: toTimestamp(one.updatedAt),
        archived_at: one.archivedAt === null ? null : toTimestamp(one.archivedAt),
      };
  }

  /** A session, then its events, each as an item of its own: a session may have more of them than memory. */
  async function* sessions(accountId: string): AsyncIterable<object> {
    const listed = all<ListedSession>((after) =>
      reads.accountSessions({ accountId, after, limit: pageItems }),
    );
    for await (const { id: sessionId } of listed) {
      const one = await reads.session({ sessionId });
      if (one === undefined) continue; // deleted meanwhile
      const isOnline = one.seen !== null && presenceOf(one.seen, clock.now(), config) === 'online';
      yield { session: shownSession(one, isOnline) };
      for (let after = 0; ;) {
        const page = { sessionId, after, maxEvents: 1000, maxBytes: pageBytes };
        const { events, scannedTo } = await reads.events(page);
        for (const event of await toSessionEvents(accounts, sessionId, events)) yield { event };
        if (scannedTo === after) break;
        after = scannedTo;
      }
    }
  }

  /** What it sent, to its own sessions and to others'. */
  async function* events(accountId: string): AsyncIterable<object> {
    const sent = all<SentEvent>((after) => reads.accountEvents({ accountId, after, limit: pageItems }));
    for await (const event of sent) yield* await toSessionEvents(accounts, event.sessionId, [event]);
  }

  async function forgetSender(accountId: string): Promise<number> {
    for (let forgotten = 0; ;) {
      const count = await acts.forgetSender({ accountId, limit: forgottenAtATime });
      forgotten += count;
      if (count < forgottenAtATime) return forgotten;
    }
  }

  return {
    export: (accountId) => ({
      environments: environments(accountId),
      sessions: sessions(accountId),
      events: events(accountId),
    }),

    async erase(accountId) {
      const environments = await eraseAll(
        () => reads.accountEnvironments({ accountId, after: undefined, limit: pageItems }),
        (environmentId) => acts.deleteEnvironment({ environmentId, now: clock.now(), terms }),
      );
      const sessions = await eraseAll(
        () => reads.accountSessions({ accountId, after: undefined, limit: pageItems }),
        (sessionId) => acts.deleteSession({ sessionId }),
      );
      return { environments, sessions, events: await forgetSender(accountId) };
    },
  };
}

async function* all<Item>(read: (after: Item | undefined) => Promise<Part<Item>>): AsyncIterable<Item> {
  for (let after: Item | undefined; ;) {
    const { items, isLast } = await read(after);
    yield* items;
    after = items.at(-1);
    if (isLast) return;
  }
}

function shownSession(session: Session, isOnline: boolean): object {
  return {
    id: session.id,
    organization_id: session.organizationId,
    environment_id: session.environmentId,
    title: session.title,
    status: sessionStatus(session.workState, isOnline),
    tags: session.tags,
    session_context: session.context,
    created_at: toTimestamp(session.createdAt),
    updated_at: toTimestamp(session.updatedAt),
  };
}
