import type { IncomingMessage } from 'node:http';
import { headerNames } from '@sallyport/core/contract';
import type { CredentialRule } from '../config/credentials.ts';

/** This connection's alone (RFC 9110 7.6.1). */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
];
const notPassedOn = [...hopByHop, 'host', 'expect', 'request-id'];
const forwarding = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'];
/** What callers prove here who they are with: nothing that another service must see. */
const credentials = ['authorization', headerNames.apiKey, 'cookie', 'x-trusted-device-token'];

/** RFC 9110 7.6.3: a pseudonym, since the address may be private. */
const pseudonym = 'sallyport';
const via = `1.1 ${pseudonym}`;
/** A request that came through so many gateways goes in a circle. */
const maxHops = 8;

export interface HeaderRules {
  readonly credential: CredentialRule;
  readonly isWorkers: boolean;
  /** Whether the answer is looked into: it is asked for as it is, not compressed. */
  readonly isInspected: boolean;
  readonly trustProxy: boolean;
}

/**
 * The headers of a request on its way to the upstream, flat and in order, case and repeats kept. `bearer`: the token of the
 * gateway's own login, where the rule is that.
 */
export type RequestHeaders = (request: IncomingMessage, requestId: string, bearer?: string) => string[];

export function requestHeadersBy(rules: HeaderRules): RequestHeaders {
  const { credential, isWorkers, isInspected, trustProxy } = rules;
  // A worker's token is the upstream's own: it was given out there.
  const withheld = credential.kind === 'forward' || isWorkers ? [] : credentials;
  const compression = isInspected ? ['accept-encoding'] : [];
  const dropped = new Set([...notPassedOn, ...forwarding, ...withheld, ...compression]);
  const added =
    credential.kind === 'replace' && !isWorkers
      ? credential.header === 'authorization'
        ? ['authorization', `Bearer ${credential.value}`]
        : [credential.header, credential.value]
      : [];

  if (isInspected) added.push('accept-encoding', 'identity');

  return (request, requestId, bearer) => {
    const { rawHeaders, headers, socket } = request;
    const named = namedIn(headers.connection);
    const out: string[] = [];
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i] ?? '';
      const lower = name.toLowerCase();
      if (!dropped.has(lower) && named?.has(lower) !== true) out.push(name, rawHeaders[i + 1] ?? '');
    }
    for (const header of added) out.push(header);
    if (bearer !== undefined) out.push('authorization', `Bearer ${bearer}`);
    // After what `Connection` names is gone, so that nobody can have these removed.
    const address = plainAddress(socket.remoteAddress);
    const before = (name: string) => (trustProxy ? textOf(headers[name]) : undefined);
    const proto = before('x-forwarded-proto') ?? 'http';
    const host = before('x-forwarded-host') ?? headers.host ?? '';
    out.push('x-forwarded-for', joined(before('x-forwarded-for'), address));
    out.push('x-forwarded-proto', proto);
    if (host !== '') out.push('x-forwarded-host', host);
    out.push('forwarded', joined(before('forwarded'), forwardedElement(address, host, proto)));
    out.push('via', `${request.httpVersion} ${pseudonym}`, 'request-id', requestId);
    return out;
  };
}

/** Whether a request has come through here so often that it goes in a circle. */
export function isInCircle({ via: passed }: IncomingMessage['headers']): boolean {
  return passed !== undefined && passed.split(pseudonym).length > maxHops;
}

/** The first of that name, in lower case, of a flat list. */
export function headerIn(raw: readonly string[], name: string): string | undefined {
  for (let i = 0; i < raw.length; i += 2) if (raw[i]?.toLowerCase() === name) return raw[i + 1];
  return undefined;
}

export interface ResponseHeaders {
  /** Flat and in order, case and repeats kept. */
  readonly list: string[];
  /** The body's length, where it is said. */
  readonly length: number | undefined;
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly isEventStream: boolean;
}

const eventStream = /^\s*text\/event-stream\b/i;
const droppedFromResponses = new Set(hopByHop);

/** The headers of an upstream's answer on their way to the caller. `raw`: flat, name and value by turns. */
export function responseHeaders(raw: readonly string[], requestId: string): ResponseHeaders {
  const list: string[] = [];
  let length: number | undefined;
  let contentType = '';
  let contentEncoding = '';
  let hasRequestId = false;
  let isBuffered = true;
  let hasCacheControl = false;
  const named = namedIn(connectionOf(raw));
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? '';
    const lower = name.toLowerCase();
    if (droppedFromResponses.has(lower) || named?.has(lower) === true) continue;
    const value = raw[i + 1] ?? '';
    if (lower === 'content-length') length = Number(value);
    else if (lower === 'content-type') contentType = value;
    else if (lower === 'content-encoding') contentEncoding = value.trim().toLowerCase();
    else if (lower === 'request-id') hasRequestId = true;
    else if (lower === 'x-accel-buffering') isBuffered = false;
    else if (lower === 'cache-control') hasCacheControl = true;
    list.push(name, value);
  }
  if (!hasRequestId) list.push('request-id', requestId);
  const isEventStream = eventStream.test(contentType);
  // So that proxies in front pass each event on as it comes.
  if (isEventStream && isBuffered) list.push('x-accel-buffering', 'no');
  if (isEventStream && !hasCacheControl) list.push('cache-control', 'no-cache, no-transform');
  list.push('via', via);
  return { list, length, contentType, contentEncoding, isEventStream };
}

/** RFC 9110 8.6: who says that there is nothing says no length, which some would wait for. */
export function withoutLength(list: readonly string[]): string[] {
  return list.filter((_, i) => list[i - (i % 2)]?.toLowerCase() !== 'content-length');
}

const framing = new Set(['content-length', 'transfer-encoding', 'trailer']);
/** What speaks of a body's bytes as they were. */
const ofBytes = new Set([
  'content-encoding',
  'etag',
  'digest',
  'content-digest',
  'repr-digest',
  'content-md5',
]);

/** The headers of an answer whose body is here as a whole; `isAnother`: not the one that they came with. */
export function withBody(list: readonly string[], body: Buffer, isAnother: boolean): string[] {
  const kept: string[] = [];
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i] ?? '';
    const lower = name.toLowerCase();
    if (!framing.has(lower) && !(isAnother && ofBytes.has(lower))) kept.push(name, list[i + 1] ?? '');
  }
  return [...kept, 'content-length', String(body.length)];
}

/** What has no place after a body: it says who sends it, where to, or how it is to be read (RFC 9110 6.5.1). */
const notInTrailers = new Set([
  ...notPassedOn,
  ...forwarding,
  ...credentials,
  'via',
  'trailer',
  'content-length',
  'content-type',
  'content-encoding',
  'content-range',
]);

/** What follows a request's body on its way to the upstream, flat. Known once the body has ended. */
export function requestTrailers({ rawTrailers, headers }: IncomingMessage): string[] {
  const named = namedIn(headers.connection);
  return rawTrailers.filter((_, i) => {
    const lower = rawTrailers[i - (i % 2)]?.toLowerCase() ?? '';
    return !notInTrailers.has(lower) && named?.has(lower) !== true;
  });
}

/** Trailers as Node takes them; what says how a message is framed has no place there (RFC 9110 6.5.1). */
export function trailersOf(raw: readonly string[]): [string, string][] {
  const trailers: [string, string][] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? '';
    const lower = name.toLowerCase();
    if (!droppedFromResponses.has(lower) && lower !== 'content-length')
      trailers.push([name, raw[i + 1] ?? '']);
  }
  return trailers;
}

function connectionOf(raw: readonly string[]): string | undefined {
  let found: string | undefined;
  for (let i = 0; i < raw.length; i += 2)
    if (raw[i]?.length === 10 && raw[i]?.toLowerCase() === 'connection')
      found = joined(found, raw[i + 1] ?? '');
  return found;
}

/** The headers that `Connection` names; nothing for what it mostly says. */
function namedIn(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || /^(keep-alive|close|upgrade)$/i.test(connection)) return undefined;
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
}

function forwardedElement(address: string, host: string, proto: string): string {
  const node = address.includes(':') ? `"[${address}]"` : address;
  const named = /^[\w.:[\]-]+$/.test(host) ? `;host="${host}"` : '';
  return `for=${node}${named}${/^https?$/.test(proto) ? `;proto=${proto}` : ''}`;
}

function plainAddress(address = 'unknown'): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}

function joined(before: string | undefined, last: string): string {
  return before === undefined ? last : `${before}, ${last}`;
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}
