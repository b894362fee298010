import type { z } from 'zod';
import type { Scope } from '../scopes.ts';

/** The areas of the service: the same word in contract, engines, routes, commands and docs. */
export type Area =
  | 'oauth'
  | 'devices'
  | 'bridge'
  | 'sessions'
  | 'worker'
  | 'environments'
  | 'telemetry'
  | 'feedback'
  | 'account'
  | 'admin';

/**
 * What a request must carry. `session_key`: a signed-in person's key; `access_token`: a JWT access token or an API key;
 * `optional`: either of them, an invalid one counts as none; `ingress`: a worker's JWT.
 */
export type Credential = 'none' | 'optional' | 'session_key' | 'access_token' | 'ingress';

/** `page` is HTML for a person's browser; the typed client has no method for it. */
export type EndpointTransport = 'json' | 'text' | 'page' | 'multipart' | 'sse' | 'websocket';

/** `form`: RFC 6749 clients send it to the token endpoint and its like; `protobuf`: OTLP. */
export type Encoding = 'json' | 'form' | 'protobuf' | 'multipart';

/** What each encoding is called in `Content-Type`, its usual name first; parameters are ignored. */
export const mediaTypes: Readonly<Record<Encoding, readonly [string, ...string[]]>> = {
  json: ['application/json'],
  form: ['application/x-www-form-urlencoded'],
  protobuf: ['application/x-protobuf', 'application/protobuf'],
  multipart: ['multipart/form-data'],
};

export interface Limits {
  /** The client gives up after this long, connecting included. */
  readonly timeoutMs?: number;
  /** Client retries after network errors, 429 and 5xx: one pause in milliseconds per retry. */
  readonly retryPausesMs?: readonly number[];
  /** The largest body that the gateway takes, decompressed. */
  readonly bodyBytes?: number;
  /** Items on a page where the query has no `limit`. */
  readonly pageSize?: number;
}

/**
 * One endpoint, as plain data: client, routes, validation, OpenAPI and docs come from it.
 * Names are neutral (`inDialect` renders them), header names lower-case.
 */
export interface Endpoint {
  /** `<area>.<verb>`, the key of the row in the table. */
  readonly id: string;
  readonly area: Area;
  readonly summary: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** RFC 6570 level 1: `/v1/environments/{env_id}/work/poll`. */
  readonly path: string;
  readonly auth: Credential;
  /** The OAuth scope that the access token needs. */
  readonly scope?: Scope;
  /** The permission that the account needs in the token's organization. */
  readonly permission?: 'read' | 'write' | 'manage_projects';
  /** The member that the list in `vendor-beta` must have. */
  readonly beta?: string;
  readonly headers?: z.ZodObject;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The media types that the body may come in; JSON where nothing is said. */
  readonly encodings?: readonly Encoding[];
  /**
   * An empty body counts as `{}`. What a client sends that has nothing to say: no body where the specification shows none,
   * an empty object where it asks for one.
   */
  readonly emptyBody?: 'none' | 'object';
  /** It has OTLP's JSON: 64-bit integers keep their digits, and bytes that are no UTF-8 become U+FFFD, so that a bad text costs no records. */
  readonly otlpJson?: true;
  /** By success status; `null`: no body. */
  readonly responses: Readonly<Record<number, z.ZodType | null>>;
  /**
   * Members of a success that are addresses of the service, by which its caller comes back: `base` of all its endpoints,
   * or a `websocket`.
   */
  readonly addresses?: Readonly<Record<string, 'base' | 'websocket'>>;
  /** Headers of a success, beyond those that every answer has. */
  readonly responseHeaders?: z.ZodObject;
  /** The statuses of the specification's errors table. 429 among them: rate-limited by default. */
  readonly errors: readonly number[];
  readonly limits?: Limits;
  readonly transport: EndpointTransport;
  /** Its WebSocket's frames come as server-sent events, too, where `Accept` asks for them and nothing for an upgrade. */
  readonly eventStream?: true;
  /** Not in the specification: an addition of ours. */
  readonly extension?: true;
}

/** What holds where a row says nothing. */
export const defaultLimits = {
  timeoutMs: 30_000,
  retryPausesMs: [],
  bodyBytes: 1024 * 1024,
  maxPageSize: 1000,
  ratePerMinute: 600,
} as const;

/** Whether a caller may leave the member of an object schema out. */
export function isOptional(member: z.ZodType): boolean {
  return member._zod.optin !== undefined; // `optional`, or `defaulted`
}

type SchemaOf<E, K extends string> = E extends Readonly<Record<K, infer S extends z.ZodType>> ? S : undefined;
type InputOf<S> = S extends z.ZodType ? z.input<S> : undefined;
type OutputOf<S> = S extends z.ZodType ? z.output<S> : undefined;

/** The validated parts of a request to the row `E`, as a handler gets them. */
export interface RequestOf<E extends Endpoint> {
  readonly headers: OutputOf<SchemaOf<E, 'headers'>>;
  readonly params: OutputOf<SchemaOf<E, 'params'>>;
  readonly query: OutputOf<SchemaOf<E, 'query'>>;
  readonly body: OutputOf<SchemaOf<E, 'body'>>;
}

type Part<K extends string, V> = V extends undefined ? { readonly [P in K]?: undefined } : Given<K, V>;
/** A part whose members are all optional may be left out as a whole. */
type Given<K extends string, V> = Partial<V> extends V ? { readonly [P in K]?: V } : { readonly [P in K]: V };

/** What a caller gives for the row `E`: only the parts that the row has. */
export type InputFor<E extends Endpoint> = Part<'headers', InputOf<SchemaOf<E, 'headers'>>> &
  Part<'params', InputOf<SchemaOf<E, 'params'>>> &
  Part<'query', InputOf<SchemaOf<E, 'query'>>> &
  Part<'body', InputOf<SchemaOf<E, 'body'>>>;

/** The body of a success of the row `E`; `undefined` where it has none. */
export type ResponseOf<E extends Endpoint> = {
  [S in keyof E['responses']]: E['responses'][S] extends z.ZodType ? z.output<E['responses'][S]> : undefined;
}[keyof E['responses']];
