import type { SignedIn } from './authorize.ts';
import type { Context } from './context.ts';
import type { Hashed } from './acts.ts';
import type { Session, SessionOrigin } from './records.ts';
import { hashSecret, newSecret, secretPrefixes } from './secrets.ts';
import { invalidToken } from './signer.ts';

/** A session key, shown once. */
export interface IssuedSession extends SignedIn {
  readonly sessionKey: string;
  readonly expiresAt: number;
}

/** Signed-in people. */
export interface Sessions {
  issue(accountId: string, origin?: SessionOrigin): Promise<IssuedSession>;
  /** Whose session key this is; throws `invalid_token`. */
  authenticate(sessionKey: string): Promise<SignedIn>;
  /** The account's, newest first; at most 1000. */
  list(accountId: string): Promise<readonly Session[]>;
  /** Gives whether the account had such a session. */
  end(session: SignedIn): Promise<boolean>;
  /** Ends all of the account's but this one; gives how many. */
  endOthers(kept: SignedIn): Promise<number>;
}

/** Most sessions that a list shows. */
const maxListed = 1000;
/** `lastUsedAt` is written at most so often. */
const touchMs = 60_000;

export function createSessions(context: Context): Sessions {
  const { store, clock, log } = context;
  const { acts, reads } = store;

  function touch(sessionId: string): void {
    // Nobody waits for it: a page costs a read.
    acts.touchSession({ sessionId, at: clock.now() }).catch((error: unknown) => {
      log.warn({ err: error, sessionId }, 'the last use of a session was not written');
    });
  }

  return {
    async issue(accountId, origin) {
      const { sessionKey, record } = newSession(context, origin);
      await acts.addSession({ session: { ...record, accountId } });
      return { accountId, sessionId: record.id, sessionKey, expiresAt: record.expiresAt };
    },
    async authenticate(sessionKey) {
      if (!isSessionKey(sessionKey)) throw invalidToken();
      const now = clock.now();
      const session = await reads.session({ hash: hashSecret(sessionKey), now });
      if (!session) throw invalidToken();
      const { id: sessionId, accountId, lastUsedAt } = session;
      if (lastUsedAt === null || now - lastUsedAt >= touchMs) touch(sessionId);
      return { accountId, sessionId };
    },
    list: (accountId) => reads.sessions({ accountId, now: clock.now(), limit: maxListed }),
    async end({ accountId, sessionId }) {
      const ended = await acts.endSession({ accountId, sessionId });
      if (ended) log.info({ accountId, sessionId }, 'a session was ended');
      return ended;
    },
    async endOthers({ accountId, sessionId }) {
      const ended = await acts.endOtherSessions({ accountId, sessionId });
      log.info({ accountId, sessionId, ended }, "an account's other sessions were ended");
      return ended;
    },
  };
}

export function isSessionKey(text: string): boolean {
  return text.startsWith(secretPrefixes.session);
}

/** A browser may call itself anything, at any length. */
const maxUserAgent = 512;

/** A session to be, before it is known whose. */
export function newSession(
  { random, ids, clock, config }: Context,
  { address, userAgent }: SessionOrigin = { address: null, userAgent: null },
): {
  readonly sessionKey: string;
  readonly record: Hashed<Omit<Session, 'accountId'>>;
} {
  const sessionKey = newSecret(random, 'session');
  const createdAt = clock.now();
  return {
    sessionKey,
    record: {
      id: ids.uuid(),
      hash: hashSecret(sessionKey),
      address,
      userAgent: userAgent?.slice(0, maxUserAgent) ?? null,
      createdAt,
      lastUsedAt: null,
      expiresAt: createdAt + config.sessionSeconds * 1000,
    },
  };
}
