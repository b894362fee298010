import { didYouMean, neutralDialect } from '@sallyport/core';
import { CommandError, exitCodes } from '../io/exit.ts';
import type { Profile, ProjectFile, UserFile, Values } from './files.ts';
import { defaultBaseUrl, keyNames, settingKeys, type CredentialStore, type KeyName } from './keys.ts';

/** Where a value comes from; the first of these that has one wins. */
export type Origin = 'flag' | 'environment' | 'project' | 'user' | 'default';

export interface Resolved {
  readonly value: string | undefined;
  readonly origin: Origin;
  /** The flag, variable or file, and the profile: for people. */
  readonly from: string;
  /** The profile that it stands in. */
  readonly profile?: string;
}

export type ResolvedSettings = Readonly<Record<KeyName, Resolved>>;

export interface Sources {
  readonly flags: Values;
  readonly environment: Values;
  readonly project: ProjectFile | undefined;
  readonly userPath: string;
  readonly user: UserFile;
}

/** The settings of one level, before the profile that the level may have chosen is put in. */
interface Level {
  readonly origin: Origin;
  readonly values: Values;
  readonly from: (key: KeyName) => string;
  readonly profile?: string;
}

const defaults: Values = {
  'base-url': defaultBaseUrl,
  'credential-store': 'auto' satisfies CredentialStore,
  telemetry: 'on',
  'dialect.vendor': neutralDialect.vendor,
  'dialect.agent': neutralDialect.agent,
};

/**
 * Flags over environment over project over user over default. The profile that the highest level names brings its values
 * in right below that level: `--profile work` wins over SALLYPORT_BASE_URL, `profile use work` does not. With a profile in
 * use the user's other settings do not count, but for the machine's: a set belongs to one gateway.
 *
 * Throws `unknown_profile`.
 */
export function resolveSettings(sources: Sources): ResolvedSettings {
  const levels = levelsOf(sources);
  const chooser = chooserOf(levels);
  const all = chooser === undefined ? levels : withProfile(levels, chooser, sources);
  return Object.fromEntries(keyNames.map((key) => [key, resolve(key, all)])) as ResolvedSettings;
}

/** The profile in use, whether there is one of that name or not. */
export function chosenProfile(sources: Sources): Resolved {
  return resolve('profile', levelsOf(sources));
}

function chooserOf(levels: readonly Level[]): (Level & { readonly profile: string }) | undefined {
  for (const level of levels) {
    const { profile } = level.values;
    if (profile !== undefined) return { ...level, profile };
  }
  return undefined;
}

function levelsOf({ flags, environment, project, userPath, user }: Sources): readonly Level[] {
  return [
    {
      origin: 'flag',
      values: flags,
      from: (key) => `--${key}`,
    },
    { origin: 'environment', values: environment, from: (key) => settingKeys[key].variable },
    { origin: 'project', values: project?.values ?? {}, from: () => project?.path ?? '' },
    { origin: 'user', values: user.values, from: () => userPath },
    { origin: 'default', values: defaults, from: () => 'default' },
  ];
}

function withProfile(
  levels: readonly Level[],
  { origin, profile: name, from }: Level & { readonly profile: string },
  { user, userPath }: Sources,
): readonly Level[] {
  const values = profileNamed(user, name, from('profile'));
  const profile: Level = { origin, values, from: () => `profile ${name} in ${userPath}`, profile: name };
  return levels.flatMap((level) => {
    const own = level.origin === 'user' ? { ...level, values: ofMachine(level.values) } : level;
    return level.origin === origin ? [own, profile] : [own];
  });
}

/** What is the machine's and no gateway's. */
function ofMachine(values: Values): Values {
  return Object.fromEntries(
    keyNames.flatMap((key) =>
      settingKeys[key].ofMachine && values[key] !== undefined ? [[key, values[key]]] : [],
    ),
  );
}

/** Throws `unknown_profile`; `from` says who named it, where it is no argument. */
export function profileNamed({ profiles }: UserFile, name: string, from?: string): Profile {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile !== undefined) return profile;
  const known = Object.keys(profiles);
  const which = from === undefined ? '' : `, which ${from} names`;
  throw new CommandError(
    'unknown_profile',
    [`There is no profile ${JSON.stringify(name)}${which}.`, didYouMean(name, known)]
      .filter(Boolean)
      .join(' '),
    exitCodes.notFound,
    `Make it: sallyport profile add ${name} --base-url URL${known.length > 0 ? ` (there are: ${known.join(', ')})` : ''}`,
  );
}

function resolve(key: KeyName, levels: readonly Level[]): Resolved {
  for (const { origin, values, from, profile } of levels) {
    const value = values[key];
    if (value !== undefined)
      return { value, origin, from: from(key), ...(profile !== undefined && { profile }) };
  }
  return { value: undefined, origin: 'default', from: 'default' };
}
