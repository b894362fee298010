import { existsSync } from 'node:fs';
import { looksSecret } from './environment.ts';

/** Shorter ones would garble what has nothing to do with them. */
const leastCharacters = 8;
/** A line of a secret that has several, such as a key in PEM. */
const leastLineCharacters = 16;

/**
 * The secrets among the variables, in the forms in which a process may print them: as they are, as a JSON string has them, the
 * lines of one that has several, the password of an address.
 */
export function secretsOf(variables: Readonly<Record<string, string | undefined>>): readonly string[] {
  const values = Object.entries(variables).flatMap(([name, value]) =>
    value !== undefined && looksSecret(name, value) && !isFile(value) ? [value] : [],
  );
  return values.flatMap(formsOf).filter((form) => form.length >= leastCharacters);
}

function formsOf(value: string): readonly string[] {
  const [, password] = /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:([^/\s@]+)@/i.exec(value) ?? [];
  const lines = value.includes('\n') ? value.split(/\r?\n/) : [];
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    value.trim(),
    ...lines.filter((line) => line.length >= leastLineCharacters),
    ...(password === undefined ? [] : [password]),
  ];
}

/** `..._KEY=/home/me/key` names where a secret is, and every listing of files would be garbled. */
function isFile(value: string): boolean {
  return value.startsWith('/') && existsSync(value);
}
