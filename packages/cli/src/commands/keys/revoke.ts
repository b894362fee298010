import { logIn } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { advising } from '../../io/next-step.ts';
import { confirmKnown } from '../confirm-known.ts';
import { deleteEach } from '../delete-each.ts';

export interface KeysRevokeOptions {
  readonly yes?: boolean;
}

export async function keysRevoke(
  context: Context,
  { yes = false }: KeysRevokeOptions,
  ...given: string[]
): Promise<number> {
  const { client } = await logIn(context);
  const ids = [...new Set(given)];
  if (!yes) {
    const { api_keys: all } = await client.oauth.listApiKeys({ signal: context.interrupt.asked });
    const kind = { one: 'API key', many: 'API keys' };
    await confirmKnown(
      context,
      ids,
      { all, kind },
      (what) => `Revoke ${what}? Whatever uses it is refused at once.`,
    );
  }
  const revoke = (id: string) =>
    advising(client.oauth.revokeApiKey({ params: { key_id: id }, signal: context.interrupt.asked }), {
      not_found: 'See which there are: sallyport keys list',
    });
  return deleteEach(context, ids, 'API key', revoke, 'revoked');
}
