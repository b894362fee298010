import { readUserFile, writeUserFile, type UserFile, type Values } from '../../config/files.ts';
import { checkedValue, keyNamed, settingKeys, type KeyName, type MachineKey } from '../../config/keys.ts';
import { chosenProfile, profileNamed, resolveSettings } from '../../config/resolve.ts';
import { readSources } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import type { Output } from '../../io/terminal.ts';
import { organizationIdOf } from '../organization-id.ts';

export async function configSet(
  context: Context,
  _options: object,
  name: string,
  value: string,
): Promise<Output> {
  const key = keyNamed(name);
  if (value.trim() === '') {
    throw new CommandError(
      'empty_value',
      `The value of ${key} is empty.`,
      exitCodes.usage,
      `To forget it: sallyport config unset ${key}`,
    );
  }
  return change(
    context,
    key,
    key === 'organization' ? await organizationIdOf(context, value, key) : checkedValue(key, value, key),
  );
}

export async function configUnset(context: Context, _options: object, name: string): Promise<Output> {
  return change(context, keyNamed(name), undefined);
}

/** Puts a setting of the machine's into the person's own file; gives the file's path. */
export async function setSetting({ flags, env }: Context, key: MachineKey, value: string): Promise<string> {
  const { userPath, user } = readSources(flags, env);
  await writeUserFile(userPath, changed(user, undefined, key, value));
  return userPath;
}

/** Only the person's own file is changed; whatever wins over it is told. */
async function change(context: Context, key: KeyName, value: string | undefined): Promise<Output> {
  const sources = readSources(context.flags, context.env);
  const { userPath: path, user } = sources;
  if (key === 'profile' && value !== undefined) profileNamed(user, value, 'this command');
  const profile = settingKeys[key].ofMachine ? undefined : resolveSettings(sources).profile.value;
  await writeUserFile(path, changed(user, profile, key, value));
  const now = { ...sources, user: readUserFile(path) };
  const after = key === 'profile' ? chosenProfile(now) : resolveSettings(now)[key];
  if (after.value !== value && after.origin !== 'user' && after.origin !== 'default')
    context.terminal.note(`Here ${key} is ${after.value ?? 'unset'} all the same: ${after.from} wins.`);
  const where = profile === undefined ? '' : ` of the profile ${profile}`;
  return {
    json: { key, value: value ?? null, profile: profile ?? null, path },
    human: value === undefined ? `${key}${where} is unset.` : `${key}${where} is ${value}.`,
  };
}

function changed(
  user: UserFile,
  profile: string | undefined,
  key: KeyName,
  value: string | undefined,
): UserFile {
  if (profile === undefined) return { ...user, values: put(user.values, key, value) };
  const own = put(user.profiles[profile] ?? {}, key, value);
  return { ...user, profiles: { ...user.profiles, [profile]: own } };
}

function put(values: Values, key: KeyName, value: string | undefined): Values {
  const { [key]: _old, ...others } = values;
  return value === undefined ? others : { ...others, [key]: value };
}
