import type { Session } from '@sallyport/core/contract';
import type { Accounts } from '@sallyport/oauth/server';
import type { Caller } from '../http/handler.ts';

/**
 * Sessions with the e-mail addresses of who created them, as far as the caller may know: an admin, who can list the people
 * anyway, all of them; everybody else their own.
 */
export async function withEmails(
  sessions: readonly Session[],
  { accountId, role }: Pick<Caller, 'accountId' | 'role'>,
  accounts: Pick<Accounts, 'get'>,
): Promise<Session[]> {
  const mayKnow = (id: string) => role === 'admin' || id === accountId;
  const ids = new Set(
    sessions.flatMap(({ account }) => (account && mayKnow(account.id) ? [account.id] : [])),
  );
  const known = new Map<string, string | null>();
  for (const id of ids) known.set(id, (await accounts.get(id))?.email ?? null);
  return sessions.map((session) => {
    const { account } = session;
    if (!account || !known.has(account.id)) return session;
    return { ...session, account: { ...account, email: known.get(account.id) ?? null } };
  });
}
