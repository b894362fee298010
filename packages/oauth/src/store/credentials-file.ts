import { LoginError } from '../client/login-error.ts';
import type { Credentials } from './token-store.ts';

const version = 1;
const required = ['baseUrl', 'clientId', 'accessToken', 'scope'] as const;
const optional = ['organizationId', 'accountId', 'refreshToken', 'deviceToken'] as const;

export function writeCredentials(credentials: Credentials): string {
  return `${JSON.stringify({ version, ...credentials }, undefined, 2)}\n`;
}

/** Reads a login's file; what is no login is `store_corrupt`, naming the file and never its content. */
export function parseCredentials(text: string, file: string): Credentials {
  const corrupt = (why: string) => new LoginError('store_corrupt', `${file} is not a stored login: ${why}.`);
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    throw corrupt('it is not JSON');
  }
  if (typeof found !== 'object' || found === null) throw corrupt('it is not an object');
  const { version: written, ...login } = found as Record<string, unknown>;
  if (written !== version) throw corrupt(`its version is ${JSON.stringify(written)}, not ${version}`);
  for (const name of required) {
    if (typeof login[name] !== 'string') throw corrupt(`${name} is missing or no text`);
  }
  for (const name of optional) {
    if (login[name] !== undefined && typeof login[name] !== 'string') throw corrupt(`${name} is no text`);
  }
  if (typeof login['expiresAt'] !== 'number') throw corrupt('expiresAt is missing or no number');
  return login as unknown as Credentials;
}
