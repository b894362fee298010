import type { SignedIn } from './authorize.ts';
import type { Context } from './context.ts';
import type { Hashed } from './ports.ts';
import type { Session } from './records.ts';
import { hashSecret, newSecret, secretPrefixes } from './secrets.ts';
import { invalidToken } from './signer.ts';

/** A session key, shown once. */
export interface IssuedSession extends SignedIn {
  readonly sessionKey: string;
  readonly expiresAt: number;
}

/** Signed-in people. */
export interface Sessions {
  issue(accountId: string): Promise<IssuedSession>;
  /** Whose session key this is; throws `invalid_token`. */
  authenticate(sessionKey: string): Promise<SignedIn>;
  end(sessionId: string): Promise<void>;
}

export function createSessions(context: Context): Sessions {
  const { store, clock } = context;
  return {
    async issue(accountId) {
      const { sessionKey, record } = newSession(context);
      await store.acts.addSession({ session: { ...record, accountId } });
      return { accountId, sessionId: record.id, sessionKey, expiresAt: record.expiresAt };
    },
    async authenticate(sessionKey) {
      if (!isSessionKey(sessionKey)) throw invalidToken();
      const session = await store.reads.session({ hash: hashSecret(sessionKey), now: clock.now() });
      if (!session) throw invalidToken();
      return { accountId: session.accountId, sessionId: session.id };
    },
    end: (sessionId) => store.acts.endSession({ sessionId }),
  };
}

export function isSessionKey(text: string): boolean {
  return text.startsWith(secretPrefixes.session);
}

/** A session to be, before it is known whose. */
export function newSession({ random, ids, clock, config }: Context): {
  readonly sessionKey: string;
  readonly record: Hashed<Omit<Session, 'accountId'>>;
} {
  const sessionKey = newSecret(random, 'session');
  const createdAt = clock.now();
  const expiresAt = createdAt + config.sessionSeconds * 1000;
  return { sessionKey, record: { id: ids.uuid(), hash: hashSecret(sessionKey), createdAt, expiresAt } };
}
