import { ServiceError } from '@sallyport/core';
import type { Session } from '@sallyport/core/contract';
import type { Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';

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

/** Who started a session, as far as the service tells: by e-mail address where it names one, else by id; else `''`. */
export function startedBy({ account }: Pick<Session, 'account'>): string {
  return account?.email ?? account?.id ?? '';
}

/** Those of `own` among them: a service that does not know the filter gives everybody's. Throws where it names nobody. */
export function startedByOwn(sessions: readonly Session[], own: string): readonly Session[] {
  if (sessions.some(({ account }) => account === undefined)) throw saysNobody();
  return sessions.filter(({ account }) => account?.id === own);
}

export function saysNobody(): CommandError {
  return new CommandError(
    'unknown_account',
    'This service does not say who started its sessions.',
    exitCodes.failed,
    'See those of all: sallyport session list',
  );
}
