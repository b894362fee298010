import { promisify } from 'node:util';
import { deflate, gunzip, gzip, inflate } from 'node:zlib';
import type { LogsBody } from '@sallyport/telemetry/server';
import { headerIn } from './headers.ts';
import type { OutboxRequest } from './outbox-ports.ts';

type Recode = (body: Uint8Array) => Promise<Buffer>;

/** Both ways of a content coding. */
interface Coding {
  readonly decode: Recode;
  readonly encode: Recode;
}

const gzipCoding: Coding = {
  decode: promisify<Uint8Array, Buffer>(gunzip),
  encode: promisify<Uint8Array, Buffer>(gzip),
};
const codings: Readonly<Record<string, Coding>> = {
  gzip: gzipCoding,
  'x-gzip': gzipCoding,
  deflate: {
    decode: promisify<Uint8Array, Buffer>(inflate),
    encode: promisify<Uint8Array, Buffer>(deflate),
  },
};

/** A kept request's body without its content coding, and what puts that on again; `undefined`: it is not what it says. */
export async function plainBody({
  headers,
  body,
}: Pick<OutboxRequest, 'headers' | 'body'>): Promise<
  (LogsBody & { readonly encode: Recode | undefined }) | undefined
> {
  const header = (name: string) => headerIn(headers, name)?.trim().toLowerCase() ?? '';
  const encoding = /^application\/(?:x-)?protobuf\b/.test(header('content-type')) ? 'protobuf' : 'json';
  const { decode, encode } = codings[header('content-encoding')] ?? {};
  const bytes = decode ? await decode(body).catch(() => undefined) : body;
  return bytes && { encoding, bytes, encode };
}
