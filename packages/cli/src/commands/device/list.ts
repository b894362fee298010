import { logIn } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { ago } from '../../io/ago.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';

export async function deviceList(context: Context): Promise<Output> {
  const { client } = await logIn(context);
  const { trusted_devices: devices } = await client.devices.list({ signal: context.interrupt.asked });
  const now = context.clock.now();
  const rows = devices.map((device) => [
    device.id,
    device.display_name,
    ago(device.created_at, now),
    device.last_used_at === null ? 'never' : ago(device.last_used_at, now),
  ]);
  const none = 'No trusted devices yet.\nTrust this machine: sallyport device trust';
  return {
    json: devices,
    human:
      rows.length === 0
        ? none
        : table(['ID', 'NAME', 'CREATED', 'LAST USED'], rows, context.terminal.widthOf('out')),
  };
}
