import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from './config/settings.ts';
import { CommandError, exitCodes } from './io/exit.ts';
import { toFailure } from './io/failure.ts';

/** The gateways that this machine has a login for: the file of each is named after its address. */
export async function knownLogins({ stateDir }: Settings): Promise<readonly string[]> {
  const files = await readdir(join(stateDir, 'logins')).catch(() => []);
  return files
    .filter((name) => name.endsWith('.json'))
    .map((name) => decodeURIComponent(name.slice(0, -'.json'.length)))
    .sort();
}

/** The sentence that names the other logins; empty where there are none. */
export function otherLogins(logins: readonly string[], baseUrl: string): string {
  const others = logins.filter((login) => login !== baseUrl);
  return others.length === 0 ? '' : `There is a login for ${others.join(', ')}: name it with --base-url.`;
}

/** Whoever asks the wrong gateway for its login is told which gateways have one. */
export async function loginRequired(settings: Settings, error: unknown): Promise<unknown> {
  if (toFailure(error).code !== 'login_required') return error;
  const logins = await knownLogins(settings);
  const others = otherLogins(logins, settings.baseUrl);
  if (others === '' || logins.includes(settings.baseUrl)) return error;
  return new CommandError(
    'login_required',
    `There is no login for ${settings.baseUrl} on this machine.`,
    exitCodes.notLoggedIn,
    `${others} Or run \`sallyport login\` for this one.`,
    { cause: error },
  );
}
