import { TransportError } from '../errors.ts';

const defaultMaxBytes = 16 * 1024 * 1024;

export async function readText(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes = defaultMaxBytes,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes)
      throw new TransportError('unexpected_answer', `the answer is over ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
