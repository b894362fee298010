import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDiskFull, whyNotWritten } from '@sallyport/core';
import { makeDirectory } from '@sallyport/core/directory';
import { CommandError, exitCodes } from '../io/exit.ts';
import { checkedValue, keyNamed, settingKeys, type KeyName } from './keys.ts';

/** The settings of one place, by key. */
export type Values = Readonly<Partial<Record<KeyName, string>>>;

/** A named set: what goes with one gateway. */
export type Profile = Readonly<Partial<Record<Exclude<KeyName, 'profile'>, string>>>;

/** `config.json` in the configuration folder. The settings beside `profile` hold where no profile is in use. */
export interface UserFile {
  readonly values: Values;
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** `.sallyport.json` of a project: what its people share. */
export interface ProjectFile {
  readonly path: string;
  readonly values: Values;
}

const projectFileName = '.sallyport.json';

export function userFilePath(configDir: string): string {
  return join(configDir, 'config.json');
}

/** Throws `invalid_config` where the file is none of ours. */
export function readUserFile(path: string): UserFile {
  const { profiles = {}, ...values } = readObject(path);
  if (!isObject(profiles)) throw invalid(path, '"profiles" is no object');
  return {
    values: valuesOf(values, path),
    profiles: Object.fromEntries(
      Object.entries(profiles).map(([name, profile]) => {
        if (!isObject(profile)) throw invalid(path, `the profile ${name} is no object`);
        if ('profile' in profile) throw invalid(path, `the profile ${name} names a profile`);
        return [name, valuesOf(profile, path)];
      }),
    ),
  };
}

/** Replaces the file as a whole: 0600 in a folder of 0700, for it says where logins go. */
export function writeUserFile(path: string, { values, profiles }: UserFile): void {
  const content = { ...values, ...(Object.keys(profiles).length > 0 && { profiles }) };
  try {
    makeDirectory(dirname(path));
    replaceFile(path, `${JSON.stringify(content, null, 2)}\n`);
  } catch (cause) {
    const advice = isDiskFull(cause)
      ? 'Make room on that disk'
      : 'Make that folder writable for this account';
    throw new CommandError(
      'config_not_written',
      `${path} cannot be written: ${whyNotWritten(cause)}.`,
      exitCodes.failed,
      `${advice}, or name another folder in SALLYPORT_CONFIG_DIR.`,
      { cause },
    );
  }
}

function replaceFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** The nearest file of `directory` and its parents, not beyond the repository that `directory` is in. */
export function findProjectFile(directory: string): ProjectFile | undefined {
  const path = join(directory, projectFileName);
  if (existsSync(path)) return readProjectFile(path);
  const parent = dirname(directory);
  return existsSync(join(directory, '.git')) || parent === directory ? undefined : findProjectFile(parent);
}

function readProjectFile(path: string): ProjectFile {
  const values = valuesOf(readObject(path), path);
  for (const key of Object.keys(values) as KeyName[]) {
    if (settingKeys[key].project) continue;
    throw new CommandError(
      'unsafe_project_setting',
      `${path} sets ${key}, which a project's file may not: it would choose where your login goes.`,
      exitCodes.usage,
      'Put `"profile": "NAME"` there, and let each person run: sallyport profile add NAME --base-url URL',
    );
  }
  return { path, values };
}

function valuesOf(object: Readonly<Record<string, unknown>>, path: string): Values {
  const entries = Object.entries(object).map(([name, value]) => {
    const key = keyNamed(name, ` in ${path}`);
    if (typeof value !== 'string' || value.trim() === '') throw invalid(path, `"${key}" is no text`);
    return [key, checkedValue(key, value, `${key} in ${path}`)];
  });
  return Object.fromEntries(entries) as Values;
}

function readObject(path: string): Readonly<Record<string, unknown>> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (/^(ENOENT|ENOTDIR)$/.test((error as NodeJS.ErrnoException).code ?? '')) return {};
    throw invalid(path, (error as Error).message);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(path, `it is no JSON (${(error as Error).message})`);
  }
  if (!isObject(value)) throw invalid(path, 'it is no JSON object');
  return value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(path: string, why: string): CommandError {
  return new CommandError(
    'invalid_config',
    `${path} cannot be used: ${why}.`,
    exitCodes.usage,
    'Mend it by hand, or move it away.',
  );
}
