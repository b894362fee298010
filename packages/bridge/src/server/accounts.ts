import type { AccountEmails } from '@sallyport/core';

/** An account as records show it: `email` is null once the account is there no more. */
export type ShownAccount = {
  readonly id: string;
  readonly email: string | null;
};

/** How these accounts are shown, each looked up once, all of them together; null is nobody. */
export async function shownAccounts(
  accounts: AccountEmails,
  ids: Iterable<string | null>,
): Promise<(id: string) => ShownAccount> {
  const wanted = new Set(ids);
  wanted.delete(null);
  const emails = wanted.size === 0 ? undefined : await accounts.emails([...wanted] as string[]);
  return (id) => ({ id, email: emails?.get(id) ?? null });
}
