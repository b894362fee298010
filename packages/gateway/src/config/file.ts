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
  return yaml.parse(text) as unknown;
}

function reason(error: unknown): string {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'there is no such file';
  if ((error as NodeJS.ErrnoException).code === 'EISDIR') return 'it is a directory';
  return (error as Error).message.split('\n')[0]?.replace(/[.:]$/, '') ?? 'unknown error';
}
