import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';
import { ConfigError } from '../config/config-error.ts';

/** The authorities that upstreams are trusted by: the usual ones, and those of a file. Throws `ConfigError`. */
export function authoritiesOf(file: string | undefined): string[] | undefined {
  if (file === undefined) return undefined;
  let pem: string;
  try {
    pem = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`upstream.ca cannot be read from ${file}: ${(error as Error).message}.`);
  }
  if (!pem.includes('-----BEGIN CERTIFICATE-----'))
    throw new ConfigError(`upstream.ca must be a file with certificates in PEM form: ${file} has none.`);
  return [...getCACertificates('default'), pem];
}
