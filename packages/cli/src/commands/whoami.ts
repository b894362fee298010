import type { Profile } from '@sallyport/core/contract';
import { connect } from '../connect.ts';
import type { Context } from '../context.ts';
import { printable } from '../io/printable.ts';
import type { Output } from '../io/terminal.ts';

export async function whoami(context: Context): Promise<Output> {
  const { client } = await connect(context);
  const profile = await client.oauth.profile({ signal: context.interrupt.asked });
  return describeAccount(profile, context.settings.baseUrl);
}

export function describeAccount(profile: Profile, baseUrl: string): Output {
  const { account, organization } = profile;
  const role = account?.role === undefined ? '' : `, ${account.role}`;
  const who = account?.email ?? 'an account without a name';
  const where = organization.name ?? organization.uuid ?? organization.organization_type;
  return {
    json: { ...profile, base_url: baseUrl },
    human: printable(`${who} (${where}${role}) at ${baseUrl}`),
  };
}
