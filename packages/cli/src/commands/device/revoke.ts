import { logIn } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { advising } from '../../io/next-step.ts';
import { confirmKnown } from '../confirm-known.ts';
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
    const { trusted_devices: devices } = await client.devices.list({ signal: context.interrupt.asked });
    const all = devices.map(({ id, display_name }) => ({ id, name: display_name }));
    const kind = { one: 'device', many: 'devices' };
    await confirmKnown(
      context,
      ids,
      { all, kind },
      (what) =>
        `Revoke ${what}? A bridge that was registered from it ends now, with its sessions, and none is registered any more.`,
    );
  }
  const revoke = (id: string) =>
    advising(client.devices.revoke({ params: { device_id: id }, signal: context.interrupt.asked }), {
      not_found: 'See which there are: sallyport device list',
    });
  return deleteEach(context, ids, 'Device', revoke, 'revoked');
}
