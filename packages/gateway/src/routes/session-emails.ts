import type { Session } from '@sallyport/core/contract';
import type { Accounts } from '@sallyport/oauth/server';

/** Sessions with the e-mail addresses of who created them. */
export async function withEmails(
  sessions: readonly Session[],
  accounts: Pick<Accounts, 'get'>,
): Promise<Session[]> {
  const ids = new Set(sessions.flatMap(({ account }) => account?.id ?? []));
  const known = new Map<string, string | null>();
  for (const id of ids) known.set(id, (await accounts.get(id))?.email ?? null);
  return sessions.map((session) => {
    const { account } = session;
    return account ? { ...session, account: { ...account, email: known.get(account.id) ?? null } } : session;
  });
}
