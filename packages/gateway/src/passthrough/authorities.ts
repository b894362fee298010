import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';
import { ConfigError } from '../config/config-error.ts';
import type { AuthoritiesFile } from '../config/upstreams.ts';

/** The authorities that an upstream is trusted by: the usual ones, and those of a file. Throws `ConfigError`. */
export function authoritiesOf(ca: AuthoritiesFile | undefined): string[] | undefined {
  if (ca === undefined) return undefined;
  const { setting, file } = ca;
  let pem: string;
  try {
    pem = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(
      `${setting} cannot be read from ${file} (${(error as Error).message}): correct the path, or make it readable for this user.`,
    );
  }
  if (!pem.includes('-----BEGIN CERTIFICATE-----'))
    throw new ConfigError(`${setting} must be a file with certificates in PEM form: ${file} has none.`);
  return [...getCACertificates('default'), pem];
}
