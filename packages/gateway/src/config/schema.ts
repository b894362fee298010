import { homedir } from 'node:os';
import { join } from 'node:path';
import { contract, defaultLimits, endpoints, families, headerNames } from '@sallyport/core/contract';
import { defaultBridgeConfig, type BridgeConfig } from '@sallyport/bridge/server';
import { defaultOAuthConfig, type OAuthConfig } from '@sallyport/oauth/server';
import { defaultTelemetryConfig, type ExportConfig, type TelemetryConfig } from '@sallyport/telemetry/server';
import { z } from 'zod';
import {
  flag,
  groupsByName,
  httpUrl,
  integer,
  integersByName,
  list,
  oneOf,
  optionalFlag,
  optionalOneOf,
  optionalText,
  required,
  seconds,
  text,
} from './leaf.ts';

const word = /^[a-z][a-z0-9]*$/;

/** Where the requests of an area or a family go. `off`: there is nothing at its paths. */
const whithers = ['local', 'upstream', 'off'] as const;
export type Whither = (typeof whithers)[number];

/**
 * Everything that can be sent somewhere: the contract's areas, and the families that only an upstream can serve.
 * Administration is left out: it goes where oauth goes, whose records it is about.
 */
export const areaNames: readonly string[] = [
  ...Object.keys(contract).filter((name) => name !== 'admin'),
  ...families.map(({ name }) => name),
];

const validationModes = ['off', 'warn', 'enforce'] as const;
export type ValidationMode = (typeof validationModes)[number];

const credentialHeaders = ['authorization', headerNames.apiKey] as const;

/** What is said of an upstream that an area or a family has of its own; see `upstreamOf` and `credentialFor`. */
const upstreamOfItsOwn = {
  url: required(httpUrl()),
  credential: credential(),
  credentialHeader: oneOf(credentialHeaders, 'authorization'),
  login: optionalFlag(),
  ca: authoritiesFile(),
  http2: optionalFlag(),
  forwardCredentials: flag(false),
};

function credential() {
  return optionalText('a token or an API key, or none', /^[\x21-\x7e]+$/);
}

function authoritiesFile() {
  return optionalText('the path of a PEM file');
}

/** Every setting of the gateway, with its default and, in the description, what is allowed. */
export function configSchema(env: Readonly<Record<string, string | undefined>> = process.env) {
  const dataHome = env['XDG_DATA_HOME'] || join(env['HOME'] || homedir(), '.local', 'share');
  return z.object({
    /** Where it listens. Beyond this machine it should have TLS in front. */
    host: text('127.0.0.1', 'an address or a host name to listen on', /^[\w.:-]+$/),
    /** 0: the system chooses one. */
    port: integer(8787, 0, 65_535),
    /** Where the store with its keys is, the bundles of feedback, and the logins at upstreams. */
    dataDir: text(join(dataHome, 'sallyport'), 'the path of a directory'),
    /** Where clients reach the gateway: issuer of tokens, and in the addresses that it gives out. By default where it listens. */
    publicUrl: httpUrl(),
    /** The store's file, where it is not to be `sallyport.db` in the data directory. */
    store: optionalText('sqlite:PATH', /^\w+:.+$/),
    /** With less than this left on the store's disk, `/readyz` warns, and the log does; 0: never. */
    lowDiskBytes: integer(1024 ** 3, 0),
    /** Kept for gateways of many processes, which this release has not: it must be left out. */
    redisUrl: optionalText('a redis: address'),
    /** The service that areas and families pass through to; `upstream` alone is short for `upstream.url`. */
    upstream: z.object({
      /** Where everything goes of which `areas` and `upstreams` say nothing else. */
      url: httpUrl(),
      /** Sent in place of the callers' own, which are checked here; `none`: the upstream needs none. */
      credential: credential(),
      /** The header that the credential is sent in. */
      credentialHeader: oneOf(credentialHeaders, 'authorization'),
      /** In place of a credential: an OAuth login of the gateway's own, kept fresh; see `admin upstream login`. */
      login: flag(false),
      /** Authorities that are trusted beside the usual ones. */
      ca: authoritiesFile(),
      /** Whether HTTP/2 is spoken with upstreams that offer it over TLS; WebSockets stay with HTTP/1.1. */
      http2: flag(false),
      /** Whether workers are told to come back through this gateway, whatever address the upstream gives them. */
      rewriteWorkerAddresses: flag(false),
      /** What comes of messages that depart from the contract: nothing, a count and a log line, or a refusal. */
      validation: oneOf(validationModes, 'off'),
      /** The largest body that is passed on; 0: any. */
      maxBodyBytes: integer(0, 0),
      /** What telemetry may take on disk that waits for its upstream. 0: nothing waits. */
      outboxBytes: integer(256 * 1024 * 1024, 0),
      /** Records of such telemetry at most. */
      outboxRecords: integer(1_000_000, 1),
      /** Where the room for waiting telemetry is full: callers are told to come again, or the oldest goes. */
      outboxFull: oneOf(['reject', 'drop_oldest'], 'reject'),
      /** How long such telemetry may wait. */
      outboxDays: integer(7, 1),
      /** How long an answer may take to begin, where the contract does not say. */
      timeoutSeconds: seconds(600),
      /** How long an answer that has begun may pause, and an upload. */
      idleSeconds: seconds(300),
      /** After how much silence an event stream gets a comment, so that nothing on its way takes it for dead; 0: never. */
      keepAliveSeconds: seconds(0, { zero: true }),
      /** How long a connection to an upstream may take. */
      connectSeconds: seconds(10),
      /** Connections to one upstream at a time; streams and held polls have one each. */
      connections: integer(1024, 1),
    }),
    /** Upstreams of their own, by area or family; `ca` and `http2` are as for `upstream` where nothing else is said. */
    upstreams: groupsByName(upstreamOfItsOwn, { names: areaNames, short: 'url' }).describe(
      'an object of areas or families, each with an address or {url, credential, credentialHeader, login, ca, http2, forwardCredentials}',
    ),
    /** Where each area and family goes; by default upstream if there is one, but not without the area that leads it. */
    areas: z.object(Object.fromEntries(areaNames.map((name) => [name, optionalOneOf(whithers)]))),
    /** How urgent what is logged to stderr is at least. */
    logLevel: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
    metrics: z.object({
      /** Who has it may read `/metrics`; without one, programs on this machine may. */
      token: optionalText('a token of 16 characters or more', /^[\x21-\x7e]{16,}$/),
    }),
    /** Whether one proxy is in front, whose word on addresses (the last of `X-Forwarded-For`) is believed. */
    trustProxy: flag(false),
    dialect: z.object({
      /** The word in the names of headers. */
      vendor: text('vendor', 'a lower-case word', word),
      /** The word in paths and values. */
      agent: text('agent', 'a lower-case word', word),
    }),
    /** The engines' own settings, with the engines' defaults; OAuth's spans go over the wire, where they are whole. */
    oauth: likeDefaults(defaultOAuthConfig, { wholeSeconds: true }).extend({
      /** Whoever asks without a credential is told of the default account; by default where only this machine can ask. */
      singleUser: optionalFlag(),
      /** Whose pages in browsers may call the API, `https://app.example`. */
      corsOrigins: list('a list of web origins', /^https?:\/\/[^/\s]+$/),
    }),
    bridge: likeDefaults(defaultBridgeConfig),
    telemetry: likeDefaults(defaultTelemetryConfig).extend({
      export: z.object({
        /** Where stored records go on to: an OTLP/HTTP endpoint; without a path, `/v1/logs` there. */
        url: httpUrl(),
        /** Sent with each request; credentials go over https or to this machine only. */
        headers: optionalText('name=value pairs with commas between them, as in OTEL_EXPORTER_OTLP_HEADERS'),
        /** The form of OTLP. */
        encoding: oneOf(['protobuf', 'json'], 'protobuf'),
        /** Of the requests' bodies. */
        compression: oneOf(['gzip', 'none'], 'gzip'),
        /** Records of one request. */
        maxRecords: integer(512, 1, 10_000),
        /** How long an answer may take. */
        timeoutSeconds: seconds(10),
      }),
    }),
    /** Requests per minute by row of the contract; `default` for the others that are limited, 0: no limit. */
    rateLimits: integersByName({ default: defaultLimits.ratePerMinute }, [
      'default',
      ...endpoints.map(({ id }) => id),
    ]),
    /** What the bodies of all requests together may take in memory; beyond, 503 with `Retry-After`. */
    maxBodyBytesInFlight: integer(64 * 1024 * 1024, 8 * 1024 * 1024),
    /** How long a stop waits for requests in flight. */
    drainSeconds: seconds(25, { zero: true }),
  });
}

type Schema = z.output<ReturnType<typeof configSchema>>;

export interface Config extends Omit<Schema, 'oauth' | 'bridge' | 'telemetry' | 'areas'> {
  readonly areas: Readonly<Record<string, Whither>>;
  readonly oauth: OAuthConfig & { readonly corsOrigins: readonly string[] };
  readonly bridge: BridgeConfig;
  readonly telemetry: TelemetryConfig & {
    readonly export: Omit<ExportConfig, 'url' | 'headers'> & {
      readonly url: string | undefined;
      readonly headers: string | undefined;
    };
  };
}

/** Settings whose values are not shown: they may carry a password. */
export const secretKeys: readonly string[] = [
  'store',
  'redisUrl',
  'upstream.url',
  'upstream.credential',
  'upstreams',
  'telemetry.export.headers',
  'metrics.token',
];

/** Keys that may be named by their group alone: in files, flags and the environment. */
export const shortForms: Readonly<Record<string, string>> = { 'upstream.url': 'upstream' };

/** Where 0 stands for `never`, or for no limit. */
const mayBeZero = new Set([
  'registrationTtlSeconds',
  'refreshGraceSeconds',
  'codeReplaySeconds',
  'maxLiveSessions',
  'maxLogBytes',
  'maxSessionLogBytes',
  'logRetentionSeconds',
]);

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
