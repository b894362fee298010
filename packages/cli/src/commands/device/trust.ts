import { hostname } from 'node:os';
import { trustDevice } from '@sallyport/oauth';
import { logIn } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { printable } from '../../io/printable.ts';
import type { Output } from '../../io/terminal.ts';

export interface DeviceTrustOptions {
  readonly name?: string;
}

export async function deviceTrust(
  context: Context,
  { name = hostname() }: DeviceTrustOptions,
): Promise<Output> {
  if (context.settings.token !== undefined) {
    throw new CommandError(
      'no_stored_login',
      'A device is trusted for a stored login, and SALLYPORT_TOKEN is none.',
      exitCodes.usage,
      'Unset SALLYPORT_TOKEN, and log in: sallyport login',
    );
  }
  const { client, store, loginKey: key } = await logIn(context);
  await trustDevice({ client, store, key, displayName: name, signal: context.interrupt.asked });
  return {
    json: { display_name: name, trusted: true },
    human: `This machine is trusted as ${printable(name)}.`,
  };
}
