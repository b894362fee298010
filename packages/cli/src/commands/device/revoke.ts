import { logIn } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { confirm } from '../../io/confirm.ts';
import { advising } from '../../io/next-step.ts';
import { deleteEach } from '../delete-each.ts';

export interface DeviceRevokeOptions {
  readonly yes?: boolean;
}

export async function deviceRevoke(
  context: Context,
  { yes = false }: DeviceRevokeOptions,
  ...given: string[]
): Promise<number> {
  const { client } = await logIn(context);
  const ids = [...new Set(given)];
  if (!yes) {
    const what = ids.length === 1 ? `device ${ids.join()}` : `${ids.length} devices`;
    await confirm(
      context,
      `Revoke ${what}? No bridge is registered with its token any more; one that runs goes on until it ends.`,
    );
  }
  const revoke = (id: string) =>
    advising(client.devices.revoke({ params: { device_id: id }, signal: context.interrupt.asked }), {
      not_found: 'See which there are: sallyport device list',
    });
  return deleteEach(context, ids, 'Device', revoke, 'revoked');
}
