import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { unfit } from './failures.ts';

/** The largest body that is looked into. */
const inspectedBytes = 1024 * 1024;

/** What looks at the body of an answer on its way. */
export interface Inspection {
  /** Whether nothing of the answer goes on before it has been looked at. */
  readonly holds: boolean;
  /**
   * Gives what goes on in place of the body, where it `holds`. `undefined`: the body is too long to be looked at.
   * Throws a `ServiceError` where the answer must not go on.
   */
  look(body: Buffer | undefined): Buffer | undefined;
}

/** Decides by an answer's head whether its body is looked at. */
export type Inspect = (status: number, head: InspectedHead) => Inspection | undefined;

export interface InspectedHead {
  readonly contentType: string;
  /** In lower case; empty: none. */
  readonly contentEncoding: string;
}

const decoders: Readonly<Record<string, typeof gunzipSync>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** Some upstreams compress although they are asked not to. Throws `upstream_unfit`. */
export function decoded(body: Buffer, contentEncoding: string): Buffer {
  if (contentEncoding === '' || contentEncoding === 'identity') return body;
  const decode = decoders[contentEncoding];
  if (decode === undefined) throw unfit(`is encoded with ${contentEncoding}, which nobody asked for`);
  try {
    return decode(body, { maxOutputLength: inspectedBytes });
  } catch (cause) {
    throw unfit(`is not in the encoding that it says, ${contentEncoding}`, cause);
  }
}

/** The body of an answer, as far as it is worth keeping. */
export class Copy {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  /** Whether all of it is here still. */
  get isWhole(): boolean {
    return this.#bytes <= inspectedBytes;
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.isWhole) this.#chunks.push(chunk);
    else this.#chunks.length = 0;
  }

  take(): Buffer | undefined {
    return this.isWhole ? Buffer.concat(this.#chunks) : undefined;
  }
}
