import { writeUserFile, type Profile } from '../../config/files.ts';
import { checkedOrganization, defaultBaseUrl } from '../../config/keys.ts';
import { chosenProfile, profileNamed } from '../../config/resolve.ts';
import { readSettings, readSources } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { knownLogins, loginKeyOf } from '../../known-logins.ts';
import type { Output } from '../../io/terminal.ts';

export interface ProfileAddOptions {
  readonly organization?: string;
  readonly use?: boolean;
}

export async function profileAdd(
  context: Context,
  options: ProfileAddOptions,
  name: string,
): Promise<Output> {
  if (!/^[\w-]{1,64}$/.test(name)) {
    throw new CommandError(
      'invalid_name',
      `${JSON.stringify(name)} is no name for a profile.`,
      exitCodes.usage,
      'Take letters, digits, - and _.',
    );
  }
  const sources = readSources(context.flags, context.env);
  const { userPath, user } = sources;
  if (Object.hasOwn(user.profiles, name)) {
    throw new CommandError(
      'profile_exists',
      `There is a profile ${name} already.`,
      exitCodes.conflict,
      `To change it: sallyport config set base-url URL --profile ${name}`,
    );
  }
  // Where a project asks for the profile that is being made, there is nothing to resolve yet.
  const { environment, flags } = sources;
  const profile: Profile = {
    'base-url': flags['base-url'] ?? environment['base-url'] ?? user.values['base-url'] ?? defaultBaseUrl,
    ...(options.organization !== undefined && {
      organization: checkedOrganization(options.organization, '--organization'),
    }),
  };
  const values = options.use === true ? { ...user.values, profile: name } : user.values;
  await writeUserFile(userPath, { values, profiles: { ...user.profiles, [name]: profile } });
  const use = options.use === true ? 'It is in use.' : `To use it: sallyport profile use ${name}`;
  return {
    json: { name, ...profile, in_use: options.use === true },
    human: `Added the profile ${name} for ${profile['base-url'] ?? ''}. ${use}`,
  };
}

export async function profileUse(context: Context, _options: object, name: string): Promise<Output> {
  const sources = readSources(context.flags, context.env);
  const profile = profileNamed(sources.user, name);
  const user = { ...sources.user, values: { ...sources.user.values, profile: name } };
  await writeUserFile(sources.userPath, user);
  const { value, from } = chosenProfile({ ...sources, user });
  if (value !== name)
    context.terminal.note(`Here the profile is ${value ?? 'none'} all the same: ${from} wins.`);
  return {
    json: { name, ...profile },
    human: `The profile ${name} is in use: ${profile['base-url'] ?? defaultBaseUrl}.`,
  };
}

export async function profileRemove(context: Context, _options: object, name: string): Promise<Output> {
  const { userPath, user } = readSources(context.flags, context.env);
  profileNamed(user, name);
  const ended = await endLoginOf(context, name);
  const { [name]: _removed, ...profiles } = user.profiles;
  const { profile: used, ...others } = user.values;
  await writeUserFile(userPath, { values: used === name ? others : user.values, profiles });
  const human = `Removed the profile ${name}${ended.logged_out ? ', and logged out' : ''}.`;
  return { json: { name, removed: true, ...ended }, human };
}

/** Ends the profile's own login. The settings that hold here may be of another profile, or nonsense. */
async function endLoginOf(context: Context, name: string) {
  const { terminal, clock, env } = context;
  const settings = readSettings({ profile: name }, env);
  const isItsOwn = settings.profile === name;
  if (!isItsOwn || !(await knownLogins(settings)).includes(loginKeyOf(settings)))
    return { logged_out: false, revoked: false };
  const { endStoredLogin } = await import('../logout.ts');
  const onEnd: Context['onEnd'] = (act) => context.onEnd(act);
  return endStoredLogin({ settings, terminal, clock, env, onEnd }, context.interrupt.asked);
}
