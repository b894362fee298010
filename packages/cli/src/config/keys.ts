import { didYouMean } from '@sallyport/core';
import { CommandError, exitCodes } from '../io/exit.ts';

/** A setting that a person may put in a file. */
export interface SettingKey {
  readonly variable: string;
  /** A project's file may hold it. */
  readonly project: boolean;
  /** It holds whatever profile is in use. */
  readonly ofMachine: boolean;
  readonly summary: string;
}

export const settingKeys = {
  'base-url': {
    variable: 'SALLYPORT_BASE_URL',
    // Whoever can write to a repository would choose where logins and prompts go.
    project: false,
    ofMachine: false,
    summary: "the gateway's address",
  },
  organization: {
    variable: 'SALLYPORT_ORG',
    project: true,
    ofMachine: false,
    summary: 'the organization to act for',
  },
  profile: {
    variable: 'SALLYPORT_PROFILE',
    project: true,
    ofMachine: true,
    summary: 'the named set that is in use',
  },
  'credential-store': {
    variable: 'SALLYPORT_CREDENTIAL_STORE',
    // Whoever can write to a repository would take a login out of the keychain.
    project: false,
    ofMachine: true,
    summary: 'where new logins are kept: auto, file or keychain',
  },
  telemetry: {
    variable: 'SALLYPORT_TELEMETRY',
    project: false,
    ofMachine: true,
    summary: '`on` or `off`: whether commands report what they do',
  },
  // They belong to a gateway, as its address does.
  'dialect.vendor': {
    variable: 'SALLYPORT_DIALECT_VENDOR',
    project: false,
    ofMachine: false,
    summary: "the gateway's word for `vendor`",
  },
  'dialect.agent': {
    variable: 'SALLYPORT_DIALECT_AGENT',
    project: false,
    ofMachine: false,
    summary: "the gateway's word for `agent`",
  },
} as const satisfies Record<string, SettingKey>;

/** The settings that no profile holds. */
export type MachineKey = {
  [Key in keyof typeof settingKeys]: (typeof settingKeys)[Key]['ofMachine'] extends true ? Key : never;
}[keyof typeof settingKeys];

/** The places for logins; `auto` is the keychain where one works, else a file. */
const credentialStores = ['auto', 'file', 'keychain'] as const;
export type CredentialStore = (typeof credentialStores)[number];

export const defaultBaseUrl = 'http://127.0.0.1:8787';

export type KeyName = keyof typeof settingKeys;
export const keyNames = Object.keys(settingKeys) as readonly KeyName[];

/** Throws `unknown_key`, naming the nearest one; `where` says whose key it is: ` in FILE`. */
export function keyNamed(name: string, where = ''): KeyName {
  const known = keyNames.find((key) => key === name);
  if (known !== undefined) return known;
  throw new CommandError(
    'unknown_key',
    [`There is no setting ${JSON.stringify(name)}${where}.`, didYouMean(name, keyNames) ?? '']
      .join(' ')
      .trim(),
    exitCodes.usage,
    `The settings are: ${keyNames.join(', ')}.`,
  );
}

/** The value as the setting keeps it. Throws where it is none that `key` can have; `origin` says who gave it. */
export function checkedValue(key: KeyName, value: string, origin: string): string {
  if (key === 'base-url') return checkedBaseUrl(value, origin);
  if (key === 'credential-store') return checkedStore(value.trim(), origin);
  if (key === 'telemetry') return checkedSwitch(value, origin);
  if (key === 'organization') return organizationId(value) ?? value.trim();
  return key === 'dialect.vendor' || key === 'dialect.agent'
    ? checkedWord(value.trim(), origin)
    : value.trim();
}

/** The value as an organization's UUID (RFC 9562 4: read in either case), if it is one. */
export function organizationId(value: string): string | undefined {
  const id = value.trim().toLowerCase();
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? id : undefined;
}

/** For where nobody can be asked which organization has that name. `origin` says who gave it. */
export function checkedOrganization(value: string, origin: string): string {
  const id = organizationId(value);
  if (id !== undefined) return id;
  throw new CommandError(
    'invalid_organization',
    `${origin} is ${JSON.stringify(value)}, which is no organization's UUID.`,
    exitCodes.usage,
    'Give one such as 0b6f7a52-8d5e-4b5e-9d3f-5c1f0e2a7b11; `sallyport org list` shows those of your account, once you are logged in.',
  );
}

function checkedSwitch(value: string, origin: string): 'on' | 'off' {
  const word = value.trim().toLowerCase();
  if (/^(on|1|true)$/.test(word)) return 'on';
  if (/^(off|0|false)$/.test(word)) return 'off';
  throw new CommandError(
    'invalid_switch',
    `${origin} is ${JSON.stringify(value)}, which is neither on nor off.`,
    exitCodes.usage,
    'Take `on` or `off`.',
  );
}

/** As the gateway's own settings of that name take it. */
function checkedWord(value: string, origin: string): string {
  if (/^[a-z][a-z0-9]*$/.test(value)) return value;
  throw new CommandError(
    'invalid_dialect',
    `${origin} is ${JSON.stringify(value)}, which is no lower-case word.`,
    exitCodes.usage,
    'Take the one that the gateway is configured with: `sallyport-gateway config` shows it.',
  );
}

function checkedStore(value: string, origin: string): CredentialStore {
  const known = credentialStores.find((store) => store === value);
  if (known !== undefined) return known;
  throw new CommandError(
    'invalid_credential_store',
    `${origin} is ${JSON.stringify(value)}, which is no place for logins.`,
    exitCodes.usage,
    `Take ${credentialStores.join(', ')}: auto is the keychain where one works, else a file.`,
  );
}

/** An http or https address without a trailing slash. `origin` says who gave it. */
function checkedBaseUrl(value: string, origin: string): string {
  const url = URL.parse(value);
  const port = /^https?:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/i.exec(value)?.[1];
  if (url === null && Number(port) > 65_535) {
    throw new CommandError(
      'invalid_base_url',
      `${origin} is ${JSON.stringify(value)}, whose port ${port ?? ''} is none: ports end at 65535.`,
      exitCodes.usage,
      `Give an address such as ${defaultBaseUrl}.`,
    );
  }
  if (url !== null && /^https?:$/.test(url.protocol)) return value.replace(/\/+$/, '');
  throw new CommandError(
    'invalid_base_url',
    `${origin} is ${JSON.stringify(value)}, which is no http or https address.`,
    exitCodes.usage,
    `Give one such as ${defaultBaseUrl}.`,
  );
}
