import { accessSync, constants, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isLoopback } from '@sallyport/core';
import { resolveSettings } from '../../config/resolve.ts';
import { readSources } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { version } from '../../version.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

export function versions(): Finding {
  const { arch, platform, versions: of } = process;
  return ok(`sallyport ${version}, Node.js ${of.node}, ${platform} ${arch}`);
}

/** The address and where it comes from. Throws for a configuration that cannot be used. */
export function configuration({ env, flags, settings }: Context): Finding {
  const { 'base-url': address, profile } = resolveSettings(readSources(flags, env));
  const named = profile.value === undefined ? '' : `, profile ${profile.value}`;
  const says = `${settings.baseUrl} (${address.from}${named})`;
  const { hostname, protocol } = new URL(settings.baseUrl);
  return protocol === 'https:' || isLoopback(hostname)
    ? ok(says)
    : warn(`${says} would carry tokens in the clear`, 'Use an https address.');
}

/** Whether things can be written in `directory`, or it can be made. Makes nothing. */
export function writable(directory: string): Finding {
  const existing = nearestExisting(directory);
  try {
    // The slash: a file is not good enough.
    accessSync(`${existing}/`, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return fail(
      `${directory} is not writable (${code} at ${existing})`,
      'Mend the permissions, or name another folder in SALLYPORT_CONFIG_DIR.',
    );
  }
  return ok(`${directory} is writable${existing === directory ? '' : ' once it is made'}`);
}

/** Logins are for their owner alone. */
export function stateFolder({ settings: { stateDir } }: Context): Finding {
  const finding = writable(stateDir);
  const logins = join(stateDir, 'logins');
  const mode = statSync(logins, { throwIfNoEntry: false })?.mode ?? 0;
  if (finding.status !== 'ok' || process.platform === 'win32' || (mode & 0o077) === 0) return finding;
  return warn(`others on this machine may look into ${logins}`, `Run: chmod -R go= '${logins}'`);
}

function nearestExisting(path: string): string {
  const parent = dirname(path);
  if (parent === path || statSync(path, { throwIfNoEntry: false }) !== undefined) return path;
  return nearestExisting(parent);
}
