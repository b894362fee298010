import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDiskFull, isJsonObject, whyNotWritten } from '@sallyport/core';
import { makeDirectory } from '@sallyport/core/directory';
import { replaceFile } from '@sallyport/core/replace-file';
import { CommandError, exitCodes } from '../io/exit.ts';
import { checkedValue, keyNamed, keyNames, settingKeys, type KeyName, type MachineKey } from './keys.ts';

/** The settings of one place, by key. */
export type Values = Readonly<Partial<Record<KeyName, string>>>;

/** A named set: what goes with one gateway. */
export type Profile = Readonly<Partial<Record<Exclude<KeyName, MachineKey>, string>>>;

/** `config.json` in the configuration folder. Where a profile is in use, of the settings only the machine's hold. */
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
  if (!isJsonObject(profiles)) throw invalid(path, '"profiles" is no object');
  return {
    values: valuesOf(values, path),
    profiles: Object.fromEntries(
      Object.entries(profiles).map(([name, profile]) => {
        if (!isJsonObject(profile)) throw invalid(path, `the profile ${name} is no object`);
        const foreign = keyNames.find((key) => settingKeys[key].ofMachine && key in profile);
        if (foreign !== undefined) throw invalid(path, `the profile ${name} names a ${foreign}`);
        return [name, valuesOf(profile, path)];
      }),
    ),
  };
}

/** Replaces the file as a whole: 0600 in a folder of 0700, for it says where logins go. */
export async function writeUserFile(path: string, { values, profiles }: UserFile): Promise<void> {
  const content = { ...values, ...(Object.keys(profiles).length > 0 && { profiles }) };
  try {
    makeDirectory(dirname(path));
    await replaceFile(path, `${JSON.stringify(content, null, 2)}\n`);
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
  if (!isJsonObject(value)) throw invalid(path, 'it is no JSON object');
  return value;
}

function invalid(path: string, why: string): CommandError {
  return new CommandError(
    'invalid_config',
    `${path} cannot be used: ${why}.`,
    exitCodes.usage,
    'Mend it by hand, or move it away.',
  );
}
