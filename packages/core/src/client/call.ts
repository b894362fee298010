import { systemClock, type Clock } from '../clock.ts';
import { defaultLimits, type Endpoint } from '../contract/endpoint.ts';
import { headerNames } from '../contract/headers.ts';
import { inDialect, neutralDialect, type Dialect } from '../dialect.ts';
import { ServiceError, TransportError } from '../errors.ts';
import { createIds, type Ids } from '../ids.ts';
import type { TokenSource } from '../ports.ts';
import { systemRandom } from '../random.ts';
import { sendWithRetries, type Retry } from '../transport/retry.ts';
import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.ts';
import { toServiceError } from './answer.ts';
import { withBearer } from './bearer.ts';
import { encodeBody, type EncodedBody } from './encoding.ts';

export interface ClientOptions {
  /** Where the service is, such as `http://127.0.0.1:8787`; a path is kept as a prefix. */
  readonly baseUrl: string;
  readonly transport: Transport;
  /** Gives the bearer of calls that need one. A 401 asks it once more, with `forceRefresh`. */
  readonly tokens?: TokenSource;
  readonly dialect?: Dialect;
  /** Sent with every call, such as `user-agent`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** Makes the `request-id` of each call, by which the service's log has it too. */
  readonly ids?: Ids;
}

const systemIds = createIds(systemClock, systemRandom);

/** How one call may depart from its row. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** This bearer instead of the token source's; it is not refreshed. */
  readonly bearer?: string;
  /** The body as it goes over the wire, instead of the input's. */
  readonly encodedBody?: EncodedBody;
  /** Told before the call is made again, which it is where the row has pauses for that. */
  readonly onRetry?: (retry: Retry) => void;
}

type Scalar = string | number | boolean;

/** The parts of a request, untyped: `InputFor` narrows them per row. */
export interface CallInput {
  readonly headers?: Readonly<Record<string, Scalar | undefined>> | undefined;
  readonly params?: Readonly<Record<string, Scalar | undefined>> | undefined;
  /** A list is sent as a repeated member. */
  readonly query?: Readonly<Record<string, Scalar | readonly Scalar[] | undefined>> | undefined;
  readonly body?: unknown;
}

/** What of a row says how it is called. */
export type CalledEndpoint = Pick<
  Endpoint,
  'method' | 'path' | 'auth' | 'beta' | 'headers' | 'body' | 'emptyBody' | 'limits' | 'transport'
>;

/** Sends one call of the contract and gives the answer, whatever its size; refusals are thrown as `ServiceError`. */
export async function send(
  options: ClientOptions,
  endpoint: CalledEndpoint,
  input: CallInput,
  call: CallOptions = {},
): Promise<TransportResponse> {
  const { transport, clock = systemClock } = options;
  const pauses = mayRepeat(endpoint, input)
    ? (endpoint.limits?.retryPausesMs ?? defaultLimits.retryPausesMs)
    : [];
  const body = call.encodedBody ?? (await encodeBody(endpoint, input.body));
  return withBearer(options, endpoint, call, async (bearer) => {
    const request = toRequest(options, endpoint, input, call, { bearer, body });
    const answer = await sendWithRetries(transport, request, pauses, clock, call.onRetry);
    if (answer.status < 300) return answer;
    throw await toServiceError(answer, request.url, clock.now());
  });
}

/** A row that takes an `Idempotency-Key` is only safe to repeat with one. */
function mayRepeat({ headers }: CalledEndpoint, input: CallInput): boolean {
  const name = 'idempotency-key';
  return headers === undefined || !(name in headers.shape) || input.headers?.[name] !== undefined;
}

/** Sends one call and reads its body. */
export async function callEndpoint(
  options: ClientOptions,
  endpoint: CalledEndpoint,
  input: CallInput,
  call?: CallOptions,
): Promise<unknown> {
  return readAnswer(options, endpoint, await send(options, endpoint, input, call));
}

/** The body of a success: JSON parsed, text as it is, `undefined` where there is none. */
export async function readAnswer(
  { baseUrl }: ClientOptions,
  endpoint: CalledEndpoint,
  answer: TransportResponse,
): Promise<unknown> {
  const text = await answer.text();
  if (endpoint.transport === 'text') return text;
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new TransportError('unexpected_answer', `${baseUrl} answered with something other than JSON`, {
      cause,
    });
  }
}

/** The request that a row and its input make: judged apart from sending, so that it can be shown or tested. */
export function toRequest(
  { baseUrl, dialect = neutralDialect, headers: common, ids = systemIds }: ClientOptions,
  endpoint: CalledEndpoint,
  input: CallInput,
  call: CallOptions,
  { bearer, body }: { readonly bearer?: string | undefined; readonly body?: EncodedBody | undefined },
): TransportRequest {
  const headers: Record<string, string> = {
    accept: acceptOf(endpoint),
    [headerNames.requestId]: ids.next('req'),
    ...common,
  };
  if (bearer !== undefined) headers['authorization'] = `Bearer ${bearer}`;
  if (endpoint.beta !== undefined) headers[inDialect(headerNames.beta, dialect)] = endpoint.beta;
  for (const [name, value] of Object.entries(input.headers ?? {})) {
    if (value !== undefined) headers[inDialect(name, dialect)] = String(value);
  }
  if (body) headers['content-type'] = body.type;
  if (body?.bytes !== undefined) headers['content-length'] = String(body.bytes);
  return {
    method: endpoint.method,
    url: endpointUrl(baseUrl, endpoint, input, dialect),
    headers,
    ...(body && { body: body.content }),
    timeoutMs: call.timeoutMs ?? endpoint.limits?.timeoutMs ?? defaultLimits.timeoutMs,
    ...(endpoint.transport === 'sse' && { idleMs: 0 }),
    ...(call.signal && { signal: call.signal }),
  };
}

function acceptOf(endpoint: CalledEndpoint): string {
  if (endpoint.transport === 'sse') return 'text/event-stream';
  return endpoint.transport === 'text' ? 'text/plain, application/json' : 'application/json';
}

/**
 * The absolute address of a call, in the dialect; path members are escaped, absent query members left out. Throws
 * `invalid_request` where a path member is absent, or one that no escape keeps from naming another path.
 */
export function endpointUrl(
  baseUrl: string,
  endpoint: Pick<Endpoint, 'path'>,
  { params = {}, query = {} }: Pick<CallInput, 'params' | 'query'>,
  dialect: Dialect = neutralDialect,
): string {
  const path = inDialect(endpoint.path, dialect).replace(/\{(\w+)\}/g, (_, name: string) =>
    segmentOf(name, params[name]),
  );
  return baseUrl.replace(/\/+$/, '') + path + suffixOf(query);
}

function segmentOf(name: string, value: Scalar | undefined): string {
  const segment = String(value ?? '');
  if (segment !== '' && segment !== '.' && segment !== '..') return encodeURIComponent(segment);
  // A URL takes these steps before anyone sees it, written as `%2e%2e`, too (WHATWG URL 4.4).
  const message = `cannot be ${JSON.stringify(segment)}`;
  const issues = [{ path: `params/${name}`, message }];
  throw new ServiceError('invalid_request', `The ${name} ${message}.`, { issues });
}

function suffixOf(query: NonNullable<CallInput['query']>): string {
  const members = Object.entries(query);
  if (members.length === 0) return '';
  const search = new URLSearchParams();
  for (const [name, value] of members)
    for (const one of [value ?? []].flat() as readonly Scalar[]) search.append(name, String(one));
  return search.size > 0 ? `?${search.toString()}` : '';
}
