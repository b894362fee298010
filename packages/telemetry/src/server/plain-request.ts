import type { LogsBody } from './logs-body.ts';
import { ifPlain, PlainCounts } from './plain-form.ts';
import { jsonTimeBase, walkPlainJson } from './plain-json.ts';
import { protobufTimeBase, walkPlainProtobuf } from './plain-protobuf.ts';

/**
 * Judges a logs request by its bytes, if it is of the plain form: then every one of its records is accepted, and the decoder finds
 * the same ones with the same summary. `undefined`: the decoder has to tell.
 */
export function judgePlainRequest(
  { encoding, bytes }: LogsBody,
  receivedAt: number,
): { readonly records: number; readonly summary: string } | undefined {
  const isJson = encoding === 'json';
  return ifPlain(() => {
    const counts = new PlainCounts(bytes, isJson ? jsonTimeBase : protobufTimeBase, receivedAt);
    if (isJson) walkPlainJson(bytes, counts);
    else walkPlainProtobuf(bytes, counts);
    return { records: counts.records, summary: counts.summaryOf(bytes) };
  });
}
