import { ServiceError } from '@sallyport/core';
import type { Session } from '@sallyport/core/contract';
import type { Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';

/** Who started a session. */
export interface Starter {
  /** The id of the account. */
  readonly own?: string | undefined;
  readonly email?: string | undefined;
}

/** The id of the account that calls, by the stored login, else by the service; `undefined`: it says nothing of accounts. */
export async function ownAccount(
  { settings, interrupt }: Pick<Context, 'settings' | 'interrupt'>,
  { client, store, loginKey }: Pick<Connection, 'client' | 'store' | 'loginKey'>,
): Promise<string | undefined> {
  const login = settings.token === undefined ? await store.load(loginKey) : undefined;
  if (login?.accountId !== undefined) return login.accountId;
  try {
    return (await client.account.bootstrap({ signal: interrupt.asked })).account.uuid;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  }
}

/**
 * Those of that account among them, by id or e-mail address: a service that does not know the filter gives everybody's.
 * Throws where it names nobody, or no address.
 */
export function startedByAccount(sessions: readonly Session[], { own, email }: Starter): readonly Session[] {
  if (own === undefined && email === undefined) return sessions;
  const told = email === undefined ? 'id' : 'email';
  if (sessions.some(({ account }) => account?.[told] === undefined)) throw saysNobody();
  return sessions.filter(
    ({ account }) =>
      (own === undefined || account?.id === own) &&
      (email === undefined || account?.email?.toLowerCase() === email.toLowerCase()),
  );
}

export function saysNobody(): CommandError {
  return new CommandError(
    'unknown_account',
    'This service does not say who started its sessions.',
    exitCodes.failed,
    'See those of all: sallyport session list',
  );
}
