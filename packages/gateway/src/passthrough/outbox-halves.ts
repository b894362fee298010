import { promisify } from 'node:util';
import { deflate, gunzip, gzip, inflate } from 'node:zlib';
import type { Ids } from '@sallyport/core';
import { halveRecords } from '@sallyport/telemetry/server';
import { headerIn } from './headers.ts';
import type { CountedRequest, Half } from './outbox-ports.ts';

/** Both ways of a content coding. */
const codings: Readonly<
  Record<string, readonly [decode: (body: Uint8Array) => Promise<Buffer>, encode: typeof gzipped]>
> = {
  gzip: [promisify(gunzip), gzipped],
  'x-gzip': [promisify(gunzip), gzipped],
  deflate: [promisify(inflate), promisify<Uint8Array, Buffer>(deflate)],
};

function gzipped(body: Uint8Array): Promise<Buffer> {
  return promisify<Uint8Array, Buffer>(gzip)(body);
}

/** A request that is too large for its upstream as two, each with a key of its own; `undefined` where that cannot be. */
export async function halve(request: CountedRequest, ids: Ids): Promise<readonly Half[] | undefined> {
  const header = (name: string) => headerIn(request.headers, name)?.trim().toLowerCase() ?? '';
  const encoding = /^application\/(?:x-)?protobuf\b/.test(header('content-type')) ? 'protobuf' : 'json';
  const coding = header('content-encoding');
  const [decode, encode] = codings[coding] ?? [];
  const bytes = decode ? await decode(request.body).catch(() => undefined) : request.body;
  const halves = bytes && halveRecords({ encoding, bytes });
  if (halves === undefined) return undefined;
  const parts = halves.map(async ({ bytes: part, records }) => {
    const body = encode ? await encode(part) : part;
    return { headers: [...withoutOwn(request.headers), 'idempotency-key', ids.next('req')], body, records };
  });
  return Promise.all(parts);
}

const ofTheWhole = new Set(['content-length', 'idempotency-key', 'content-md5', 'digest', 'content-digest']);

function withoutOwn(headers: readonly string[]): string[] {
  return headers.filter((_, i) => !ofTheWhole.has(headers[i - (i % 2)]?.toLowerCase() ?? ''));
}
