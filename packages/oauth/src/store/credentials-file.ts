import { isJsonObject } from '@sallyport/core';
import { LoginError } from '../client/login-error.ts';
import type { Credentials } from './token-store.ts';

const version = 1;
const required = ['baseUrl', 'clientId', 'accessToken', 'scope'] as const;
const optional = ['organizationId', 'accountId', 'refreshToken', 'deviceToken'] as const;

export function writeCredentials(credentials: Credentials): string {
  return `${JSON.stringify({ version, ...credentials }, undefined, 2)}\n`;
}

/** What stands in the file of a login that the keychain keeps. */
export function writePointer(keychain: string): string {
  return `${JSON.stringify({ version, keychain })}\n`;
}

/** The name of the keychain that keeps the login of a file; `undefined` where the file keeps it itself. */
export function parsePointer(text: string): string | undefined {
  try {
    const found: unknown = JSON.parse(text);
    return isJsonObject(found) && found['version'] === version && typeof found['keychain'] === 'string'
      ? found['keychain']
      : undefined;
  } catch {
    return undefined; // `parseCredentials` says what is wrong with it
  }
}

/** Reads a login; what is none is `store_corrupt`, that of a newer release `store_newer`, naming the place, never its content. */
export function parseCredentials(text: string, place: string): Credentials {
  const corrupt = (why: string) => new LoginError('store_corrupt', `${place} is not a stored login: ${why}.`);
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    throw corrupt('it is not JSON');
  }
  if (!isJsonObject(found)) throw corrupt('it is not an object');
  const { version: written, ...login } = found;
  if (typeof written === 'number' && written > version)
    throw new LoginError(
      'store_newer',
      `${place} is of a newer release (version ${written}; this one reads ${version}).`,
    );
  if (written !== version) throw corrupt(`its version is ${JSON.stringify(written)}, not ${version}`);
  for (const name of required) {
    if (typeof login[name] !== 'string') throw corrupt(`${name} is missing or no text`);
  }
  for (const name of optional) {
    if (login[name] !== undefined && typeof login[name] !== 'string') throw corrupt(`${name} is no text`);
  }
  if (login['requestedAt'] !== undefined && typeof login['requestedAt'] !== 'number')
    throw corrupt('requestedAt is no number');
  if (typeof login['expiresAt'] !== 'number') throw corrupt('expiresAt is missing or no number');
  return login as unknown as Credentials;
}
