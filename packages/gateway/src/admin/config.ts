import { secretKeys } from '../config/schema.ts';
import type { Setting } from '../config/load.ts';
import { configOf } from './config-of.ts';
import type { ConfigFlags } from './flags.ts';
import { printJson } from './print.ts';

/** `sallyport-gateway config`: every setting with its origin, secrets hidden. */
export function printConfig(flags: ConfigFlags & { readonly json?: boolean }): void {
  const settings = configOf(flags).settings.map(hideSecret);
  if (flags.json === true) {
    const document = Object.fromEntries(
      settings.map(({ key, value, origin }) => [key, { value: value ?? null, origin }]),
    );
    printJson(document);
    return;
  }
  const width = Math.max(...settings.map(({ key }) => key.length));
  for (const { key, value, origin } of settings) {
    const shown = value === undefined ? '-' : typeof value === 'string' ? value : JSON.stringify(value);
    process.stdout.write(`${key.padEnd(width)}  ${shown}  (${origin})\n`);
  }
}

/** A path to a file is no secret; an address may hold a password, a group of settings a credential. */
function hideSecret(setting: Setting): Setting {
  const { key, value = {} } = setting;
  const plain =
    typeof value === 'string' ? value.startsWith('sqlite:') : Object.keys(value as object).length === 0;
  return secretKeys.includes(key) && !plain ? { ...setting, value: '[hidden]' } : setting;
}
