import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultBaseUrl } from './config/keys.ts';
import type { Settings } from './config/settings.ts';
import { CommandError, exitCodes } from './io/exit.ts';
import { toFailure } from './io/failure.ts';

/**
 * The key of a login in the store. It has the address, because a token never goes to another gateway than the one that gave it,
 * and the profile, because two profiles may be two accounts, or two organizations, at one gateway.
 */
export function loginKeyOf({ baseUrl, profile }: Pick<Settings, 'baseUrl' | 'profile'>): string {
  return profile === undefined ? baseUrl : `${profile}@${baseUrl}`;
}

/** A login as people call it. */
export function shownLogin(key: string): string {
  const { profile, baseUrl } = partsOf(key);
  return profile === undefined ? baseUrl : `${baseUrl} (profile ${profile})`;
}

/** No address begins as a profile's name and `@` do. */
function partsOf(key: string): { readonly profile: string | undefined; readonly baseUrl: string } {
  const [, profile, baseUrl = key] = /^([\w-]+)@(.*)$/.exec(key) ?? [];
  return { profile, baseUrl };
}

/** The keys of the logins of this machine: the file of each is named after it. */
export async function knownLogins({ stateDir }: Pick<Settings, 'stateDir'>): Promise<readonly string[]> {
  const files = await readdir(join(stateDir, 'logins')).catch(() => []);
  return files
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => decoded(name.slice(0, -'.json'.length)))
    .sort();
}

/** A file of another make may be there too. */
function decoded(name: string): readonly string[] {
  try {
    return [decodeURIComponent(name)];
  } catch {
    return [];
  }
}

/** The sentence that names the other logins; empty where there are none. */
export function otherLogins(logins: readonly string[], key: string): string {
  const others = logins.filter((login) => login !== key);
  if (others.length === 0) return '';
  const ways = others.map((login) => (partsOf(login).profile === undefined ? '--base-url' : '--profile'));
  const named = others.map(shownLogin).join(', ');
  return `There is a login for ${named}: name it with ${[...new Set(ways)].sort().join(' or ')}.`;
}

/** Whoever said no address is at the default one, and mostly wants the only gateway that there is a login for. */
function otherGateway(settings: Settings, logins: readonly string[]): string | undefined {
  const [only, ...others] = logins;
  if (only === undefined || others.length > 0 || settings.baseUrl !== defaultBaseUrl) return undefined;
  return partsOf(only).profile === undefined ? addressCommand(only) : undefined;
}

/** Has the commands from then on go to that gateway. */
export function addressCommand(baseUrl: string): string {
  return `sallyport config set base-url ${baseUrl}`;
}

/** Whoever asks where there is no login is told where there is one. */
export async function loginRequired(settings: Settings, error: unknown): Promise<unknown> {
  if (toFailure(error).code !== 'login_required') return error;
  const logins = await knownLogins(settings);
  const key = loginKeyOf(settings);
  const others = otherLogins(logins, key);
  if (logins.includes(key)) return error;
  const gateway = otherGateway(settings, logins);
  const all = gateway === undefined ? '' : ` To have all commands go there: \`${gateway}\`.`;
  const login = others === '' && settings.profile === undefined ? 'sallyport login' : loginCommand(settings);
  return new CommandError(
    'login_required',
    `There is no login for ${shownLogin(key)} on this machine.`,
    exitCodes.notLoggedIn,
    others === '' ? `Run \`${login}\`.` : `${others}${all} Or run \`${login}\` for this one.`,
    { cause: error },
  );
}

/** Makes the login that is missing, whatever flag or setting chose it: without a name it may be another one. */
export function loginCommand({ baseUrl, profile }: Pick<Settings, 'baseUrl' | 'profile'>): string {
  return `sallyport login ${profile === undefined ? `--base-url ${baseUrl}` : `--profile ${profile}`}`;
}
