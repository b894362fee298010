import { nearest } from '@sallyport/core';
import { CommandError, exitCodes } from '../io/exit.ts';

/** A setting that a person may put in a file. */
export interface SettingKey {
  readonly variable: string;
  /** A project's file may hold it. */
  readonly project: boolean;
  readonly summary: string;
}

export const settingKeys = {
  'base-url': {
    variable: 'SALLYPORT_BASE_URL',
    // Whoever can write to a repository would choose where logins and prompts go.
    project: false,
    summary: "the gateway's address",
  },
  organization: {
    variable: 'SALLYPORT_ORG',
    project: true,
    summary: 'the organization to act for',
  },
  profile: {
    variable: 'SALLYPORT_PROFILE',
    project: true,
    summary: 'the named set that is in use',
  },
} as const satisfies Record<string, SettingKey>;

export const defaultBaseUrl = 'http://127.0.0.1:8787';

export type KeyName = keyof typeof settingKeys;
export const keyNames = Object.keys(settingKeys) as readonly KeyName[];

/** Throws `unknown_key`, naming the nearest one; `where` says whose key it is: ` in FILE`. */
export function keyNamed(name: string, where = ''): KeyName {
  const known = keyNames.find((key) => key === name);
  if (known !== undefined) return known;
  const meant = nearest(name, keyNames);
  throw new CommandError(
    'unknown_key',
    `There is no setting ${JSON.stringify(name)}${where}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`,
    exitCodes.usage,
    `The settings are: ${keyNames.join(', ')}.`,
  );
}

/** An http or https address without a trailing slash. `origin` says who gave it. */
export function checkedBaseUrl(value: string, origin: string): string {
  const url = URL.parse(value);
  if (url !== null && /^https?:$/.test(url.protocol)) return value.replace(/\/+$/, '');
  throw new CommandError(
    'invalid_base_url',
    `${origin} is ${JSON.stringify(value)}, which is no http or https address.`,
    exitCodes.usage,
    `Give one such as ${defaultBaseUrl}.`,
  );
}
