import { resolve } from 'node:path';
import { didYouMean, isJsonObject } from '@sallyport/core';
import { z } from 'zod';
import { ConfigError } from './config-error.ts';
import { derivedDefaults } from './derived-defaults.ts';
import { readConfigFile } from './file.ts';
import { configSchema, secretKeys, shortForms, type Config } from './schema.ts';
import { refuseUnsupported } from './unsupported.ts';

export interface ConfigSources {
  /** Dotted keys (`oauth.issParameter`) with their values, as given on the command line. */
  readonly flags?: Readonly<Record<string, unknown>>;
  /** A YAML or JSON file. */
  readonly file?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** One effective setting and where it comes from: `--port`, `SALLYPORT_PORT`, a file, or `default`. */
export interface Setting {
  readonly key: string;
  readonly value: unknown;
  readonly origin: string;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Every setting, in the schema's order. */
  readonly settings: readonly Setting[];
}

/** The effective configuration: flags over environment over file over defaults. Throws `ConfigError`. */
export function loadConfig({ flags = {}, file, env = process.env }: ConfigSources = {}): LoadedConfig {
  const schema = configSchema(env);
  const leaves = leavesOf(schema);
  const fromFile =
    file === undefined ? new Map<string, unknown>() : flatten(readConfigFile(file), leaves, file);
  for (const key of Object.keys(flags)) {
    if (!leaves.has(key) && !isShortForm(key)) throw unknownKey(key, '--set', leaves);
  }
  const settings: Setting[] = [];
  for (const [key, leaf] of leaves) {
    const names = [key, shortForms[key] ?? []].flat();
    const flag = names.find((name) => flags[name] !== undefined);
    const variable = names.map(environmentName).find((name) => env[name] !== undefined);
    const [origin, given] =
      flag !== undefined
        ? [flagName(flag), flags[flag]]
        : variable !== undefined
          ? [variable, env[variable]]
          : fromFile.has(key)
            ? [file ?? '', fromFile.get(key)]
            : ['default', undefined];
    const parsed = leaf.safeParse(given);
    if (!parsed.success) throw notAllowed({ key, value: given, origin }, leaf, parsed.error);
    settings.push({ key, value: parsed.data ?? derivedDefaults[key]?.(nest(settings)), origin });
  }
  return configFrom(settings);
}

function notAllowed({ key, value, origin }: Setting, leaf: z.ZodType, { issues }: z.ZodError): ConfigError {
  const [issue] = issues;
  // Of a setting within a setting: it says what is allowed there, and its value is not shown.
  if (issue?.code === 'custom' && issue.path.length > 0)
    return new ConfigError(`${[key, ...issue.path].join('.')} (from ${origin}) ${issue.message}`);
  const shown = secretKeys.includes(key) ? 'what is given' : JSON.stringify(value);
  return new ConfigError(
    `${key} (from ${origin}) must be ${leaf.description ?? 'something else'}, not ${shown}.`,
  );
}

/** The configuration that settings make together. Throws `ConfigError` where they do not go together. */
export function configFrom(settings: readonly Setting[]): LoadedConfig {
  const config = nest(settings) as unknown as Config;
  refuseUnsupported(config);
  return { config: { ...config, dataDir: resolve(config.dataDir) }, settings };
}

/** `oauth.refreshGraceSeconds` is `SALLYPORT_OAUTH_REFRESH_GRACE_SECONDS`. */
export function environmentName(key: string): string {
  return `SALLYPORT_${key.replace(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase()}`;
}

function flagName(key: string): string {
  return key.includes('.')
    ? `--set ${key}`
    : `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

type Leaves = ReadonlyMap<string, z.ZodType>;

/** The settings within their groups, by their dotted keys. */
export function leavesOf(schema: z.ZodObject, prefix = ''): Map<string, z.ZodType> {
  const leaves = new Map<string, z.ZodType>();
  const members: Readonly<Record<string, z.ZodType>> = schema.shape;
  for (const [name, member] of Object.entries(members)) {
    if (member instanceof z.ZodObject)
      for (const [key, leaf] of leavesOf(member, `${prefix}${name}.`)) leaves.set(key, leaf);
    else leaves.set(prefix + name, member);
  }
  return leaves;
}

function flatten(value: object, leaves: Leaves, file: string, prefix = ''): Map<string, unknown> {
  const flat = new Map<string, unknown>();
  for (const [name, member] of Object.entries(value)) {
    const key = prefix + name;
    const long = Object.keys(shortForms).find((one) => shortForms[one] === key);
    if (leaves.has(key)) flat.set(key, member);
    else if (long !== undefined && !isJsonObject(member)) flat.set(long, member);
    else if (isJsonObject(member) && [...leaves.keys()].some((leaf) => leaf.startsWith(`${key}.`)))
      for (const entry of flatten(member, leaves, file, `${key}.`)) flat.set(...entry);
    else throw unknownKey(key, file, leaves);
  }
  return flat;
}

function isShortForm(key: string): boolean {
  return Object.values(shortForms).includes(key);
}

function unknownKey(key: string, origin: string, leaves: Leaves): ConfigError {
  const groups = [...leaves.keys()].flatMap((leaf) => [leaf, leaf.replace(/\..*/, '')]);
  const next = didYouMean(key, groups) ?? '`sallyport-gateway config` lists them.';
  return new ConfigError(`${key} (from ${origin}) is not a setting. ${next}`);
}

function nest(settings: readonly Setting[]): Readonly<Record<string, unknown>> {
  const root: Record<string, unknown> = {};
  for (const { key, value } of settings) {
    const names = key.split('.');
    const last = names.pop() ?? key;
    let group = root;
    for (const name of names) group = (group[name] ??= {}) as Record<string, unknown>;
    group[last] = value;
  }
  return root;
}
