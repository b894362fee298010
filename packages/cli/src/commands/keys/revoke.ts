import { logIn } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { confirm } from '../../io/confirm.ts';
import { advising } from '../../io/next-step.ts';
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
    const what = ids.length === 1 ? `API key ${ids.join()}` : `${ids.length} API keys`;
    await confirm(context, `Revoke ${what}? Whatever uses it is refused at once.`);
  }
  const revoke = (id: string) =>
    advising(client.oauth.revokeApiKey({ params: { key_id: id }, signal: context.interrupt.asked }), {
      not_found: 'See which there are: sallyport keys list',
    });
  return deleteEach(context, ids, 'API key', revoke, 'revoked');
}
