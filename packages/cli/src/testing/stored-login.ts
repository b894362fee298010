import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Puts a login for the gateway at `baseUrl` where commands that run in `cwd` look for one; gives its file. */
export function storeLogin(cwd: string, baseUrl: string, login: object = {}): string {
  const logins = join(cwd, 'config/state/logins');
  mkdirSync(logins, { recursive: true, mode: 0o700 });
  const file = join(logins, `${encodeURIComponent(baseUrl)}.json`);
  const stored = { version: 1, baseUrl, clientId: 'c', scope: 'vendor_api', accessToken: 'at-1' };
  writeFileSync(file, JSON.stringify({ ...stored, expiresAt: Date.now() + 3_600_000, ...login }), {
    mode: 0o600,
  });
  return file;
}
