import { families, familyTimeoutMs, type Family } from '../contract/families.ts';
import { readServerSentEvents, type ServerSentEvent } from '../transport/sse.ts';
import {
  callEndpoint,
  send,
  type CalledEndpoint,
  type CallInput,
  type CallOptions,
  type ClientOptions,
} from './call.ts';
import { encodeForm, type EncodedBody } from './encoding.ts';
import { socketFamilyClient, type SocketFamilyClient } from './sockets.ts';

/** What the contract leaves to the upstream: any JSON object. A caller who knows more names its own type. */
export type OpenObject = Readonly<Record<string, unknown>>;

/** How one call goes: `headers` and `query` beside what all calls take. A list in `query` is a repeated member. */
export type FamilyCall = CallOptions & Pick<CallInput, 'headers' | 'query'>;

/**
 * A resource that only an upstream serves, or a part of one: the verbs are the usual ones, and what goes over the wire is
 * between caller and upstream. Refusals reject with `ServiceError`, network failures with `TransportError`.
 */
export interface FamilyClient {
  /** GET. */
  list<T = OpenObject>(call?: FamilyCall): Promise<T>;
  /** POST. With `stream: true` the answer's server-sent events as they come; whoever stops early ends the request. */
  create(body: OpenObject & { readonly stream: true }, call?: FamilyCall): AsyncIterable<ServerSentEvent>;
  /** A `FormData` goes as multipart, with its `Blob`s as files; it is held in memory meanwhile. */
  create<T = OpenObject>(body?: OpenObject | FormData, call?: FamilyCall): Promise<T>;
  /** GET of one. */
  retrieve<T = OpenObject>(id: string, call?: FamilyCall): Promise<T>;
  /** POST to one. */
  update<T = OpenObject>(id: string, body: OpenObject, call?: FamilyCall): Promise<T>;
  /** DELETE of one. */
  delete<T = OpenObject>(id: string, call?: FamilyCall): Promise<T>;
  /** GET of bytes, as they come. */
  download(call?: FamilyCall): AsyncIterable<Uint8Array>;
  /** What stands below, a segment for each part: `messages.at('batches')`, `files.at(id, 'content')`. */
  at(...segments: readonly string[]): FamilyClient;
}

type Rows = (typeof families)[number];
/** The families, by name. */
export type FamilyClients = {
  readonly [F in Rows as F['name']]: F extends { readonly transport: 'websocket' }
    ? SocketFamilyClient
    : FamilyClient;
};

export function familyClients(options: ClientOptions): FamilyClients {
  const clients = families.map((family: Family) => [
    family.name,
    family.transport === 'websocket'
      ? socketFamilyClient(options, family, [])
      : familyClient(options, family, []),
  ]);
  return Object.fromEntries(clients) as FamilyClients;
}

function familyClient(options: ClientOptions, family: Family, segments: readonly string[]): FamilyClient {
  const { auth, prefix } = family;
  // As members of the path, which the dialect leaves alone and the client escapes.
  const endpoint = (method: CalledEndpoint['method'], more: readonly string[] = []): CalledEndpoint => ({
    ...{ method, auth, transport: 'json', limits: { timeoutMs: familyTimeoutMs } },
    path: [prefix, ...[...segments, ...more].map((_, i) => `{segment${i}}`)].join('/'),
  });
  const input = ({ headers, query }: FamilyCall, more: readonly string[] = []): CallInput => ({
    ...{ headers, query },
    params: Object.fromEntries([...segments, ...more].map((segment, i) => [`segment${i}`, segment])),
  });
  const ask = (method: CalledEndpoint['method'], call: FamilyCall = {}, more: readonly string[] = []) =>
    // The caller says what it is: see `T` above.
    callEndpoint(options, endpoint(method, more), input(call, more), call) as Promise<never>;
  const post = async (body: OpenObject | FormData, call: FamilyCall = {}, more: readonly string[] = []) =>
    ask('POST', { ...call, encodedBody: await encoded(body) }, more);

  async function* events(body: OpenObject, call: FamilyCall): AsyncIterable<ServerSentEvent> {
    const streaming = { ...endpoint('POST'), transport: 'sse' } as const;
    const sent = { ...call, encodedBody: await encoded(body) };
    yield* readServerSentEvents((await send(options, streaming, input(call), sent)).stream());
  }

  async function* bytes({ headers, ...call }: FamilyCall): AsyncIterable<Uint8Array> {
    const asked = { ...call, headers: { accept: '*/*', ...headers } };
    yield* (await send(options, endpoint('GET'), input(asked), call)).stream();
  }

  return {
    list: (call) => ask('GET', call),
    create: (body: OpenObject | FormData = {}, call: FamilyCall = {}) =>
      (!(body instanceof FormData) && body['stream'] === true
        ? events(body, call)
        : post(body, call)) as never,
    retrieve: (id, call) => ask('GET', call, [id]),
    update: (id, body, call) => post(body, call, [id]),
    delete: (id, call) => ask('DELETE', call, [id]),
    download: (call = {}) => bytes(call),
    at: (...more) => familyClient(options, family, [...segments, ...more]),
  };
}

async function encoded(body: OpenObject | FormData): Promise<EncodedBody> {
  return body instanceof FormData
    ? encodeForm(body)
    : { type: 'application/json', content: JSON.stringify(body) };
}
