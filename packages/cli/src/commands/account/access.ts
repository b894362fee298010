import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
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
  return {
    json: { ...found, organization: organizationId },
    human: pairs([
      ['Organization:', organizationId],
      ['Access:', found.access_level],
      ['Permissions:', found.permissions.join(', ')],
    ]),
  };
}
