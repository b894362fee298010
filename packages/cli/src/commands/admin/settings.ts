import type { ManagedSettings } from '@sallyport/core/contract';
import { logIn } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { advising } from '../../io/next-step.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import { forAdmins } from './for-admins.ts';

/** `admin settings list`, and what the other two print. */
export async function list(context: Context): Promise<Output> {
  const { client } = await logIn(context);
  return shown(
    context,
    await advising(client.admin.listSettings({ signal: context.interrupt.asked }), forAdmins),
  );
}

/** `admin settings set NAME JSON`. */
export async function set(context: Context, _options: object, name = '', value = ''): Promise<Output> {
  const { client } = await logIn(context);
  const setting = client.admin.setSetting({
    params: { name },
    body: { value: JSON.parse(value) as unknown },
    signal: context.interrupt.asked,
  });
  return shown(context, await advising(setting, forAdmins));
}

/** `admin settings unset NAME`. */
export async function unset(context: Context, _options: object, name = ''): Promise<Output> {
  const { client } = await logIn(context);
  const unsetting = client.admin.unsetSetting({ params: { name }, signal: context.interrupt.asked });
  const nextSteps = { ...forAdmins, not_found: 'See which are set: sallyport admin settings list' };
  return shown(context, await advising(unsetting, nextSteps));
}

function shown({ terminal }: Context, { settings }: ManagedSettings): Output {
  const rows = Object.entries(settings).map(([name, value]) => [name, JSON.stringify(value)]);
  const none = 'The organization sets nothing for its members.';
  return {
    json: settings,
    human: rows.length === 0 ? none : table(['SETTING', 'VALUE'], rows, terminal.widthOf('out')),
  };
}
