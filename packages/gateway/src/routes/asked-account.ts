/** Finds accounts by their addresses, in either case. */
export interface AccountIds {
  idOf(email: string): Promise<string | undefined>;
}

/** An account that nobody has. */
export const nobody = '';

/**
 * The account that a query names by id, e-mail address, or both; `undefined` where it names none. Nobody's address is
 * `nobody`, and no error: whether it has an account elsewhere is not to be learnt here.
 */
export async function askedAccount(
  { account_id: id, account_email: email }: { readonly account_id?: string; readonly account_email?: string },
  accounts: AccountIds,
): Promise<string | undefined> {
  if (email === undefined) return id;
  const ofEmail = (await accounts.idOf(email)) ?? nobody;
  return (id ?? ofEmail) === ofEmail ? ofEmail : nobody;
}
