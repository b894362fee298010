import { ServiceError, toTimestamp } from '@sallyport/core';
import { emailForm } from '@sallyport/core/contract';
import type { Audit } from './audit.ts';
import { createFailures } from './failures.ts';
import { networkOf } from './network.ts';
import { unknownOrganization } from './organizations.ts';
import { createPasswords } from './password.ts';
import type { Context } from './context.ts';
import type { Account, Role, SessionOrigin, SetupLink } from './records.ts';
import { newSession, type IssuedSession } from './sessions.ts';
import { hashSecret, newSecret } from './secrets.ts';

/** An account as it may be shown. */
export interface ShownAccount {
  readonly id: string;
  readonly email: string;
  readonly hasPassword: boolean;
  readonly createdAt: number;
}

/** Where a person tries a password. */
export type SignInOrigin = SessionOrigin & { readonly address: string };

/** People, their passwords and how they sign in. */
export interface Accounts {
  /** Throws `conflict` where the e-mail address is taken; without an organization: the oldest one of the owner. */
  add(input: {
    readonly email: string;
    readonly organizationId?: string;
    readonly role?: Role;
    readonly password?: string;
  }): Promise<ShownAccount>;
  /** By e-mail address, else the owner; throws `not_found`. */
  find(email?: string): Promise<ShownAccount>;
  get(accountId: string): Promise<ShownAccount | undefined>;
  /** The e-mail addresses of those of these accounts that there are, by id. */
  emails(accountIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The account with this e-mail address, in either case. */
  idOf(email: string): Promise<string | undefined>;
  setPassword(accountId: string, password: string): Promise<void>;
  /**
   * Sets the password of who knows the present one; all sessions end, and one begins. Throws `access_denied` (401) for a
   * wrong one, `invalid_request` for a bad new one, `rate_limited` after too many.
   */
  changePassword(
    accountId: string,
    passwords: { readonly current: string; readonly next: string },
    origin: SignInOrigin,
  ): Promise<IssuedSession>;
  /** Throws `access_denied` (401) for a wrong address or password alike, `rate_limited` after too many. */
  signIn(email: string, password: string, origin: SignInOrigin): Promise<IssuedSession>;
  /** A one-time link to set the password of an account; the account's earlier one ends. */
  setupLink(accountId: string): Promise<SetupLink>;
  /** Whose setup token this is; `undefined` for one that is used, replaced or expired. */
  setupAccount(token: string): Promise<ShownAccount | undefined>;
  /** Sets the password and signs in; throws `not_found` for a bad token, `invalid_request` for a bad password. */
  setUp(token: string, password: string, origin?: SessionOrigin): Promise<IssuedSession>;
}

export function createAccounts(
  context: Context,
  { audit }: { readonly audit: Pick<Audit, 'record'> },
): Accounts {
  const { store, clock, random, issuer, config, log } = context;
  const { acts, reads } = store;
  const passwords = createPasswords(random, config.password);
  const windowMs = config.failures.windowSeconds * 1000;
  const byAccount = createFailures(clock, config.failures.passwords, windowMs);
  const byAddress = createFailures(clock, config.failures.passwordsPerAddress, windowMs);

  function checkPassword(password: string): void {
    const length = Array.from(password).length;
    if (length >= config.password.minLength && length <= 256) return;
    throw new ServiceError(
      'invalid_request',
      `The password must have at least ${config.password.minLength} characters, and at most 256.`,
    );
  }

  /** Whether it is the account's; `name` is what was asked for, be there an account or not. */
  async function tryPassword(
    name: string,
    account: Account | undefined,
    password: string,
    address: string,
  ): Promise<boolean> {
    const network = networkOf(address);
    // What was counted before the account was unlocked is under another name.
    const counter = `${name} ${account?.unlocks ?? 0} ${network}`;
    const blockedMs = Math.max(byAccount.blockedMs(counter) ?? 0, byAddress.blockedMs(network) ?? 0);
    if (blockedMs > 0)
      throw new ServiceError('rate_limited', 'There were too many wrong passwords.', {
        retryAfterMs: blockedMs,
      });
    // Counted first, or tries in parallel would all be let through before one of them has failed.
    byAccount.count(counter);
    byAddress.count(network);
    // What is longer than any password is not worth hashing, but takes as long.
    const isRight = await passwords.verify(password.slice(0, 1024), account?.passwordHash ?? null);
    if (isRight) {
      byAccount.forget(counter);
      byAddress.takeBack(network);
    } else {
      log.warn({ accountId: account?.id, address }, 'a password was wrong');
      // Not the name that was typed: people type passwords there, too.
      await audit.record({ action: 'sign_in', outcome: 'failed', accountId: account?.id ?? null });
      await tellLocks(account?.id, network, {
        accountMs: byAccount.confirm(counter),
        networkMs: byAddress.confirm(network),
      });
    }
    return isRight;
  }

  /** Locks that the last wrong password brought about, with how long they last. */
  async function tellLocks(
    accountId: string | undefined,
    network: string,
    lasting: { readonly accountMs: number | undefined; readonly networkMs: number | undefined },
  ): Promise<void> {
    const { accountMs, networkMs } = lasting;
    const until = (lastsMs: number) => ({ until: toTimestamp(clock.now() + lastsMs) });
    // A name that is nobody's locks nobody out.
    if (accountMs !== undefined && accountId !== undefined)
      await audit.record({ action: 'account.lock', accountId, details: until(accountMs) });
    // Of no organization: people of several may be behind it.
    if (networkMs !== undefined)
      await audit.record({ action: 'network.lock', subject: network, seenBy: [], details: until(networkMs) });
  }

  async function ownOrganization(): Promise<string> {
    const owner = await reads.defaultAccount();
    const [first] = owner ? await reads.memberships({ accountId: owner.id }) : [];
    if (!first) throw new ServiceError('not_found', 'There is no organization yet.');
    return first.organization.id;
  }

  return {
    async add({ email, organizationId, role = 'member', password }) {
      const blank = newAccount(context, email);
      if (password !== undefined) checkPassword(password);
      const organization = organizationId ?? (await ownOrganization());
      if (!(await reads.organization({ organizationId: organization }))) throw unknownOrganization();
      const passwordHash = password === undefined ? null : await passwords.hash(password);
      const account = { ...blank, passwordHash };
      if (!(await acts.addAccount({ account, organizationId: organization, role })))
        throw new ServiceError('conflict', 'There is an account with this e-mail address.');
      return shownAccount(account);
    },

    async find(email) {
      const account =
        email === undefined
          ? await reads.defaultAccount()
          : await reads.accountByEmail({ email: email.toLowerCase() });
      if (!account) throw unknownAccount();
      return shownAccount(account);
    },

    async get(accountId) {
      const account = await reads.account({ accountId });
      return account && shownAccount(account);
    },

    async emails(accountIds) {
      const known = await reads.accountEmails({ accountIds });
      return new Map(known.map(({ id, email }) => [id, email]));
    },

    idOf: async (email) => (await reads.accountByEmail({ email: email.toLowerCase() }))?.id,

    async setPassword(accountId, password) {
      checkPassword(password);
      await acts.setPassword({ accountId, passwordHash: await passwords.hash(password) });
    },

    async changePassword(accountId, { current, next }, origin) {
      checkPassword(next);
      const account = await reads.account({ accountId });
      const wrong = new ServiceError('access_denied', 'The present password is wrong.', { status: 401 });
      if (!account || !(await tryPassword(account.email, account, current, origin.address))) throw wrong;
      const passwordHash = await passwords.hash(next);
      const { sessionKey, record } = newSession(context, origin);
      const replaced = account.passwordHash;
      if (!(await acts.setPassword({ accountId, passwordHash, session: record, replaced }))) throw wrong;
      log.info({ accountId }, 'a password was changed');
      return { accountId, sessionId: record.id, sessionKey, expiresAt: record.expiresAt };
    },

    async signIn(email, password, origin) {
      const name = email.trim().toLowerCase().slice(0, 256);
      const account = await reads.accountByEmail({ email: name });
      const isRight = await tryPassword(name, account, password, origin.address);
      const { sessionKey, record } = newSession(context, origin);
      const accountId = account?.id ?? '';
      const passwordHash = account?.passwordHash ?? null;
      // A password that was replaced while it was hashed here begins nothing any more.
      if (!isRight || !(await acts.addSession({ session: { ...record, accountId }, passwordHash })))
        throw new ServiceError('access_denied', 'The e-mail address or the password is wrong.', {
          status: 401,
        });
      return { accountId, sessionId: record.id, sessionKey, expiresAt: record.expiresAt };
    },

    async setupLink(accountId) {
      const token = newSecret(random, 'setup');
      const expiresAt = clock.now() + config.setupLinkSeconds * 1000;
      await acts.addSetupToken({ hash: hashSecret(token), accountId, expiresAt });
      return { url: `${issuer}/setup?token=${token}`, expiresAt };
    },

    async setupAccount(token) {
      const account = await reads.setupAccount({ hash: hashSecret(token), now: clock.now() });
      return account && shownAccount(account);
    },

    async setUp(token, password, origin) {
      const hash = hashSecret(token);
      checkPassword(password);
      const expired = new ServiceError(
        'not_found',
        'This link was used, replaced by a newer one, or has expired.',
      );
      // Asked before the costly hash, which strangers must not get for nothing; the act decides.
      if (!(await reads.setupAccount({ hash, now: clock.now() }))) throw expired;
      const passwordHash = await passwords.hash(password);
      const { sessionKey, record } = newSession(context, origin);
      const redeemed = await acts.redeemSetupToken({ hash, passwordHash, session: record, now: clock.now() });
      if (!redeemed) throw expired;
      const { accountId } = redeemed;
      return { accountId, sessionId: record.id, sessionKey, expiresAt: record.expiresAt };
    },
  };
}

/** Throws `invalid_request` for what is no e-mail address. */
export function newAccount({ ids, clock }: Pick<Context, 'ids' | 'clock'>, email: string): Account {
  if (!emailForm.test(email)) throw new ServiceError('invalid_request', 'This is not an e-mail address.');
  const id = ids.uuid();
  return { id, email: email.toLowerCase(), passwordHash: null, createdAt: clock.now(), unlocks: 0 };
}

export function unknownAccount(): ServiceError {
  return new ServiceError('not_found', 'There is no such account.');
}

export function shownAccount({ id, email, passwordHash, createdAt }: Account): ShownAccount {
  return { id, email, hasPassword: passwordHash !== null, createdAt };
}
