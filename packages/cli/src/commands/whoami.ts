import type { Profile } from '@sallyport/core/contract';
import { connect } from '../connect.ts';
import type { Context } from '../context.ts';
import { printable } from '../io/printable.ts';
import type { Output } from '../io/terminal.ts';

export async function whoami(context: Context): Promise<Output> {
  const { client, store, loginKey } = await connect(context);
  const profile = await client.oauth.profile({ signal: context.interrupt.asked });
  const { json, human } = describeAccount(profile, context.settings.baseUrl);
  const where = context.settings.token === undefined ? await store.whereIs(loginKey) : 'SALLYPORT_TOKEN';
  return {
    json: { ...json, stored_in: where },
    human: `${human}\nThe login is in ${printable(where ?? '')}.`,
  };
}

export function describeAccount(profile: Profile, baseUrl: string) {
  const { account, organization } = profile;
  const role = account?.role === undefined ? '' : `, ${account.role}`;
  const who = account?.email ?? 'an account without a name';
  const where = organization.name ?? organization.uuid ?? organization.organization_type;
  return {
    json: { ...profile, base_url: baseUrl },
    human: printable(`${who} (${where}${role}) at ${baseUrl}`),
  };
}
