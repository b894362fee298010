import { TransportError } from '../errors.ts';

const defaultMaxBytes = 16 * 1024 * 1024;
/** A body of which less than this comes within the time that it may stand still does as good as stand still. */
const trickleBytes = 1024;

export interface TextLimits {
  readonly maxBytes?: number | undefined;
  /** Milliseconds that the body may stand still; 0 for ever. */
  readonly idleMs: number;
}

export async function readText(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { maxBytes = defaultMaxBytes, idleMs }: TextLimits,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let since = { at: performance.now(), size };
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes)
      throw new TransportError('unexpected_answer', `the answer is over ${maxBytes} bytes`);
    chunks.push(chunk);
    const now = performance.now();
    if (size - since.size >= trickleBytes) since = { at: now, size };
    else if (idleMs > 0 && now - since.at >= idleMs)
      throw new TransportError('timeout', 'the answer only trickles in');
  }
  return Buffer.concat(chunks).toString('utf8');
}
