import { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import { jsonExcess, maxBodyNames, maxBodyValues, parseExactJson, ServiceError } from '@sallyport/core';
import { defaultLimits, mediaTypes, type Encoding, type Endpoint } from '@sallyport/core/contract';
import type { HeldBytes } from './body-budget.ts';
import { unsupportedCoding, unsupportedMediaType } from './refusal.ts';

/** A body that the row's schema does not see: its handler reads or decodes it. */
export type RawBody = Uint8Array | IncomingMessage;

/**
 * Reads and parses the body of a request whose row has a schema for one, in an encoding of the row. A row that takes
 * protobuf decodes by itself, JSON too, whose 64-bit integers would lose digits here: its bodies stay bytes. Multipart stays
 * the request, unread, so that it never rests in memory.
 * Throws, in this order: 415 (at OAuth endpoints 400), 413, 400; 503 while `held` takes no more.
 */
export async function readBody(
  endpoint: Endpoint,
  request: IncomingMessage,
  held: HeldBytes,
): Promise<unknown> {
  const encoding = encodingOf(endpoint, request);
  checkCoding(endpoint, request);
  const limit = endpoint.limits?.bodyBytes ?? defaultLimits.bodyBytes;
  if (encoding === 'multipart') {
    if (Number(request.headers['content-length'] ?? 0) > limit + multipartFraming) throw tooLarge(limit);
    return request;
  }
  const bytes = await collect(request, limit, held);
  if (encoding === 'protobuf') return bytes; // without a field set, a message has no bytes
  if (bytes.length > 0 && endpoint.encodings?.includes('protobuf') === true) return bytes;
  if (bytes.length > 0 && endpoint.otlpJson) return parseOtlpJson(bytes);
  if (bytes.length > 0) return (encoding === 'form' ? parseForm : parseJson)(decodeText(bytes));
  if (endpoint.emptyBody !== undefined) return {};
  throw new ServiceError('invalid_request', 'The request has no body.');
}

export function isRaw(body: unknown): body is RawBody {
  return body instanceof Uint8Array || body instanceof IncomingMessage;
}

/** What a form may have beside its file. */
const multipartFraming = 1024 * 1024;

/** Throws 415 for a body in a form that the row does not take. */
export function checkMedia(endpoint: Endpoint, request: IncomingMessage): void {
  encodingOf(endpoint, request);
  checkCoding(endpoint, request);
}

function encodingOf(endpoint: Endpoint, request: IncomingMessage): Encoding {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  const { encodings = ['json'] } = endpoint;
  const encoding = encodings.find((one) => mediaTypes[one].includes(type ?? ''));
  if (encoding !== undefined) return encoding;
  // An empty body needs no type; a form without its boundary is none.
  const isEmpty =
    type === undefined || (endpoint.emptyBody !== undefined && request.headers['content-length'] === '0');
  const [usual = 'json'] = encodings;
  if (isEmpty && !announcesBody(request) && usual !== 'multipart') return usual;
  throw unsupportedMediaType(endpoint);
}

function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function checkCoding(endpoint: Endpoint, request: IncomingMessage): void {
  const isKnown = endpoint.transport === 'multipart' ? /^(identity)?$/ : /^(identity|gzip|x-gzip|deflate)?$/;
  if (!isKnown.test(codingOf(request))) throw unsupportedCoding(endpoint);
}

/** RFC 9110 8.4. */
function codingOf({ headers }: IncomingMessage): string {
  return headers['content-encoding']?.trim().toLowerCase() ?? '';
}

/** The whole body, decompressed; never holds more than `limit` bytes of it. */
async function collect(request: IncomingMessage, limit: number, held: HeldBytes): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  const body = decompress(request);
  const chunks: Buffer[] = [];
  let size = 0;
  // By events: an iterator of a body that is one chunk costs several times what reading it does.
  await new Promise<void>((resolve, reject) => {
    function take(chunk: Buffer): void {
      size += chunk.length;
      try {
        if (size > limit) throw tooLarge(limit);
        held.take(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        // Not destroyed: the connection must live to carry the refusal.
        body.off('data', take).pause();
        reject(error instanceof Error ? error : brokenOff(error));
      }
    }
    const fail = (cause: unknown) => reject(brokenOff(cause));
    const close = () => body.readableEnded || fail(new Error('closed'));
    if (body.destroyed) return fail(new Error('closed'));
    body.on('data', take).on('end', resolve).on('error', fail).on('close', close);
  });
  return Buffer.concat(chunks, size);
}

function decompress(request: IncomingMessage): Readable {
  const coding = codingOf(request);
  if (coding === 'identity' || coding === '') return request;
  const inflate = coding === 'deflate' ? createInflate() : createGunzip();
  // Not `pipeline`: it would destroy the request, and with it the connection that the answer goes over.
  request.on('error', (error) => inflate.destroy(error));
  request.once('close', () => request.complete || inflate.destroy(new Error('closed')));
  return request.pipe(inflate);
}

function brokenOff(cause: unknown): ServiceError {
  return new ServiceError('invalid_request', 'The body broke off, or is not in the encoding that it says.', {
    cause,
  });
}

function tooLarge(limit: number): ServiceError {
  return new ServiceError('payload_too_large', `The body must not be larger than ${limit} bytes.`);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeText(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new ServiceError('invalid_request', 'The body is not UTF-8 text.', { cause });
  }
}

const protoKey =
  /"(?:_|\\u005[fF]){2}(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006[fF])(?:t|\\u0074)(?:o|\\u006[fF])(?:_|\\u005[fF]){2}"/;

/** JSON without `__proto__` members, which would change what an object is once they are copied. */
export function parseJson(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  refuseExcess(text);
  let value: unknown;
  try {
    value = parse(text);
  } catch (cause) {
    throw new ServiceError('invalid_request', 'The body is not valid JSON.', { cause });
  }
  if (protoKey.test(text)) dropProto(value);
  return value;
}

function refuseExcess(text: string): void {
  const excess = jsonExcess(text);
  if (excess === 'depth') throw new ServiceError('invalid_request', 'The body nests too deeply.');
  if (excess === 'values')
    throw new ServiceError('payload_too_large', `The body must not have more than ${maxBodyValues} values.`);
  if (excess === 'names')
    throw new ServiceError(
      'payload_too_large',
      `The members of the body must not have more than ${maxBodyNames} names.`,
    );
}

/** By a walk: a reviver takes ten times as long, and a body may have them by the hundred thousand. */
function dropProto(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, '__proto__')) Reflect.deleteProperty(value, '__proto__');
  for (const member of Object.values(value)) dropProto(member);
}

const lenientUtf8 = new TextDecoder();

/** For a row with `otlpJson`. */
export function parseOtlpJson(bytes: Uint8Array): unknown {
  return parseJson(lenientUtf8.decode(bytes), parseExactJson);
}

/** A form as an object of strings; a repeated key is refused (RFC 6749 3.2). */
export function parseForm(text: string): unknown {
  const form = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (form.has(name)) throw new ServiceError('invalid_request', 'The form has a parameter more than once.');
    form.set(name, value);
  }
  return Object.fromEntries(form);
}
