import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import { ConfigError } from './config-error.ts';

/** Reads a configuration file: JSON by its extension, else YAML. An empty one has no settings. Throws `ConfigError`. */
export function readConfigFile(path: string): object {
  let content: unknown;
  try {
    const text = readFileSync(path, 'utf8');
    content = path.endsWith('.json') ? JSON.parse(text) : parseYaml(text);
  } catch (error) {
    throw new ConfigError(`The configuration file ${path} cannot be read: ${reason(error)}.`);
  }
  if (content === null || content === undefined) return {};
  if (typeof content === 'object' && !Array.isArray(content)) return content;
  throw new ConfigError(`The configuration file ${path} must hold settings by name.`);
}

function parseYaml(text: string): unknown {
  // Synchronous and only when a file is given: most starts need no YAML.
  const yaml = createRequire(import.meta.url)('yaml') as typeof Yaml;
  const document = yaml.parseDocument(text);
  // A tag that it does not know is a value that would be lost: one that begins with `!`.
  for (const problem of [...document.errors, ...document.warnings]) throw problem;
  return document.toJS() as unknown;
}

const place = /(?: at line \d+, column \d+| \(line \d+ column \d+\))(?=:?$)/;

/** What is wrong, and where: never what stands there, which may be a credential. Parsers quote it after `:` and `!`. */
function reason(error: unknown): string {
  const { code, errno, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'it is a directory';
  if (errno !== undefined) return message;
  const [said = ''] = message.split('\n');
  const [where = ''] = place.exec(said) ?? [];
  if (error instanceof SyntaxError) return `it is not valid JSON${where}`;
  const [what = ''] = said.replace(place, '').split(/[:!]/);
  return `${what.trim()}${where}`;
}
