import { homedir } from 'node:os';
import { join } from 'node:path';
import { defaultLimits, endpoints } from '@sallyport/core/contract';
import { defaultBridgeConfig, type BridgeConfig } from '@sallyport/bridge/server';
import { defaultOAuthConfig, type OAuthConfig } from '@sallyport/oauth/server';
import { defaultTelemetryConfig, type TelemetryConfig } from '@sallyport/telemetry/server';
import { z } from 'zod';
import { isLoopback } from './address.ts';
import {
  flag,
  httpUrl,
  integer,
  integersByName,
  list,
  oneOf,
  optionalFlag,
  optionalText,
  seconds,
  text,
} from './leaf.ts';

const word = /^[a-z][a-z0-9]*$/;

/** Every setting of the gateway, with its default and, in the description, what is allowed. */
export function configSchema(env: Readonly<Record<string, string | undefined>> = process.env) {
  const dataHome = env['XDG_DATA_HOME'] || join(env['HOME'] || homedir(), '.local', 'share');
  return z.object({
    host: text('127.0.0.1', 'an address or a host name to listen on', /^[\w.:-]+$/),
    port: integer(8787, 0, 65_535),
    dataDir: text(join(dataHome, 'sallyport'), 'the path of a directory'),
    /** Where clients reach the gateway: issuer of tokens, and in the addresses that it gives out. */
    publicUrl: httpUrl(),
    store: optionalText('sqlite:PATH', /^\w+:.+$/),
    redisUrl: optionalText('a redis: address'),
    upstream: httpUrl(),
    logLevel: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
    /** Whether `X-Forwarded-For` of a proxy in front is believed. */
    trustProxy: flag(false),
    dialect: z.object({
      vendor: text('vendor', 'a lower-case word', word),
      agent: text('agent', 'a lower-case word', word),
    }),
    /** The engines' own settings, with the engines' defaults; OAuth's spans go over the wire, where they are whole. */
    oauth: likeDefaults(defaultOAuthConfig, { wholeSeconds: true }).extend({
      singleUser: optionalFlag(),
      corsOrigins: list('a list of web origins', /^https?:\/\/[^/\s]+$/),
    }),
    bridge: likeDefaults(defaultBridgeConfig),
    telemetry: likeDefaults(defaultTelemetryConfig),
    /** Requests per minute by row of the contract; `default` for the others that are limited, 0: no limit. */
    rateLimits: integersByName({ default: defaultLimits.ratePerMinute }, [
      'default',
      ...endpoints.map(({ id }) => id),
    ]),
    /** How long a stop waits for requests in flight. */
    drainSeconds: seconds(25, { zero: true }),
  });
}

type Schema = z.output<ReturnType<typeof configSchema>>;

export interface Config extends Omit<Schema, 'oauth' | 'bridge' | 'telemetry'> {
  readonly oauth: OAuthConfig & { readonly corsOrigins: readonly string[] };
  readonly bridge: BridgeConfig;
  readonly telemetry: TelemetryConfig;
}

/** Settings whose values are not shown: they may carry a password. */
export const secretKeys: readonly string[] = ['store', 'redisUrl', 'upstream'];

/** Defaults that follow from settings further up in the schema. */
export const derivedDefaults: Readonly<
  Record<string, (settings: Readonly<Record<string, unknown>>) => unknown>
> = {
  // Behind a public address others may stand, to whom the default account must not be told.
  'oauth.singleUser': ({ host, publicUrl }) => isLoopback(String(host)) && publicUrl === undefined,
};

/** Where 0 stands for `never`. */
const mayBeZero = new Set(['registrationTtlSeconds', 'refreshGraceSeconds', 'codeReplaySeconds']);

/** A setting for each member: time spans, counts (of which there is at least one), flags, and groups of them. */
function likeDefaults(defaults: object, { wholeSeconds = false } = {}): z.ZodObject {
  const members = Object.entries(defaults).map(([name, value]: [string, unknown]) => {
    if (typeof value === 'boolean') return [name, flag(value)] as const;
    if (typeof value !== 'number') return [name, likeDefaults(value as object, { wholeSeconds })] as const;
    const zero = mayBeZero.has(name);
    const isSpan = name.endsWith('Seconds') && !wholeSeconds;
    return [name, isSpan ? seconds(value, { zero }) : integer(value, zero ? 0 : 1)] as const;
  });
  return z.object(Object.fromEntries(members));
}
