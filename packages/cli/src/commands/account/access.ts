import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { organizationsOf, shownById } from '../../organizations.ts';
import { advising } from '../../io/next-step.ts';
import { pairs } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';

export async function access(context: Context): Promise<Output> {
  const { client, organizationId } = await connect(context);
  const nextStep = 'See which organizations there are: sallyport org list';
  const call = client.account.access({
    params: { org_id: organizationId },
    signal: context.interrupt.asked,
  });
  const found = await advising(call, { forbidden: nextStep, not_found: nextStep });
  // Its name is for eyes; a service that gives none is no reason to fail.
  const all = await organizationsOf(client, { signal: context.interrupt.asked }).catch(() => []);
  return {
    json: { ...found, organization: organizationId },
    human: pairs([
      ['Organization:', shownById(all, organizationId)],
      ['Access:', found.access_level],
      ['Permissions:', found.permissions.join(', ')],
    ]),
  };
}
