import { homedir } from 'node:os';
import { join } from 'node:path';
import { defaultLimits, endpoints } from '@sallyport/core/contract';
import { defaultBridgeConfig, type BridgeConfig } from '@sallyport/bridge/server';
import { defaultOAuthConfig, type OAuthConfig } from '@sallyport/oauth/server';
import { defaultTelemetryConfig, type TelemetryConfig } from '@sallyport/telemetry/server';
import { z } from 'zod';
import { flag, httpUrl, integer, integersByName, list, measure, oneOf, optionalText, text } from './leaf.ts';

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
    /** The engines' own settings, with the engines' defaults. */
    oauth: likeDefaults(defaultOAuthConfig).extend({
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
    drainSeconds: measure(25),
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

/** A setting for each member: measures and flags, and groups of them. */
function likeDefaults(defaults: object): z.ZodObject {
  const members = Object.entries(defaults).map(([name, value]: [string, unknown]) => {
    if (typeof value === 'number') return [name, measure(value)] as const;
    if (typeof value === 'boolean') return [name, flag(value)] as const;
    return [name, likeDefaults(value as object)] as const;
  });
  return z.object(Object.fromEntries(members));
}
