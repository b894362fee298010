import { join } from 'node:path';
import { neutralDialect, type Dialect } from '@sallyport/core';
import envPaths from 'env-paths';
import { CommandError, exitCodes } from '../io/exit.ts';
import { findProjectFile, readUserFile, userFilePath, type Values } from './files.ts';
import {
  checkedValue,
  defaultBaseUrl,
  keyNames,
  settingKeys,
  type CredentialStore,
  type KeyName,
} from './keys.ts';
import { resolveSettings, type ResolvedSettings, type Sources } from './resolve.ts';

/** Where the command line works against, and where it keeps its things. */
export interface Settings {
  /** The gateway's address, without a trailing slash. */
  readonly baseUrl: string;
  /** The profile that the address is of; a flag or variable may have given another one over it. */
  readonly profile: string | undefined;
  /** How the gateway spells the specification's neutral words. */
  readonly dialect: Dialect;
  /** What the user may edit. */
  readonly configDir: string;
  /** Logins, the bridge's records, the telemetry spool: 0700. */
  readonly stateDir: string;
  /** An access token or API key from outside; it is used over the stored login and never stored. */
  readonly token: string | undefined;
  /** The organization to act for, by UUID or name; default: the login's. */
  readonly organization: string | undefined;
  /** Where new logins are kept. */
  readonly credentialStore: CredentialStore;
  /** Whether the settings want telemetry; the environment's other switches may still say no. */
  readonly telemetry: boolean;
}

export interface SettingsFlags {
  readonly baseUrl?: string;
  readonly profile?: string;
}

/** The settings that hold for a command which runs in `directory`. */
export function readSettings(
  flags: SettingsFlags,
  env: NodeJS.ProcessEnv,
  directory = process.cwd(),
): Settings {
  const token = given(env['SALLYPORT_TOKEN']);
  const resolved = resolveSettings(readSources(flags, env, directory));
  if (token !== undefined) refuseProjectAddress(resolved);
  return {
    ...foldersOf(env),
    baseUrl: resolved['base-url'].value ?? defaultBaseUrl,
    profile: resolved['base-url'].profile,
    dialect: {
      vendor: resolved['dialect.vendor'].value ?? neutralDialect.vendor,
      agent: resolved['dialect.agent'].value ?? neutralDialect.agent,
    },
    token,
    organization: resolved.organization.value,
    // Checked where it was read.
    credentialStore: (resolved['credential-store'].value ?? 'auto') as CredentialStore,
    telemetry: resolved.telemetry.value !== 'off',
  };
}

/** Everything that may say something about a setting. Throws for what cannot be understood. */
export function readSources(
  { baseUrl, profile }: SettingsFlags,
  env: NodeJS.ProcessEnv,
  directory = process.cwd(),
): Sources {
  const userPath = userFilePath(foldersOf(env).configDir);
  const flags = checked({ 'base-url': baseUrl, profile }, (key) => `--${key}`);
  const variables = keyNames.map((key) => [key, given(env[settingKeys[key].variable])]);
  return {
    flags,
    environment: checked(
      Object.fromEntries(variables) as Partial<Record<KeyName, string>>,
      (key) => settingKeys[key].variable,
    ),
    project: findProjectFile(directory),
    userPath,
    user: readUserFile(userPath),
  };
}

/** The folders of the person's own things, made when something is written there. */
export function foldersOf(env: NodeJS.ProcessEnv): Pick<Settings, 'configDir' | 'stateDir'> {
  const own = given(env['SALLYPORT_CONFIG_DIR']);
  if (own !== undefined) return { configDir: own, stateDir: join(own, 'state') };
  const xdg = envPaths('sallyport', { suffix: '' });
  // env-paths calls the XDG state home `log`.
  return { configDir: xdg.config, stateDir: xdg.log };
}

/**
 * A token from the environment has no address of its own, as a stored login has: it goes where the person says, never
 * where a repository does.
 */
function refuseProjectAddress({ 'base-url': { origin, value, from } }: ResolvedSettings): void {
  if (origin !== 'project') return;
  throw new CommandError(
    'unsafe_address',
    `SALLYPORT_TOKEN is set, and the project's file would choose where it goes: ${value ?? ''} (${from}).`,
    exitCodes.usage,
    'Say which gateway the token is for: set SALLYPORT_BASE_URL, or give --base-url or --profile.',
  );
}

function checked(
  values: Readonly<Partial<Record<KeyName, string | undefined>>>,
  originOf: (key: KeyName) => string,
): Values {
  const entries = keyNames.flatMap((key) => {
    const value = values[key];
    return value === undefined ? [] : [[key, checkedValue(key, value, originOf(key))] as const];
  });
  return Object.fromEntries(entries);
}

/** An empty variable counts as none, as in a shell's `VAR= command`. */
function given(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}
