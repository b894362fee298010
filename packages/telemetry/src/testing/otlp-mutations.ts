import { encodeLogsRequest } from './otlp-encoder.ts';
import { drawsOf, randomLogsRequest } from './otlp-random.ts';

/** A body of random records; of one seed always the same. */
export function randomBody(encoding: 'json' | 'protobuf', of: number): Buffer<ArrayBuffer> {
  const request = randomLogsRequest(of);
  return encoding === 'json' ? Buffer.from(JSON.stringify(request)) : encodeLogsRequest(request);
}

type Draw = ReturnType<typeof drawsOf>;

const pieces = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\u',
  'null',
  '1e400',
  '-9223372036854775809',
  '"__proto__":1,',
  '{}',
];
const edges = [0x00, 0x0a, 0x12, 0x7f, 0x80, 0xff];

/** The body with something put over, before or in place of a piece of it, or cut off. */
export function mutated(body: Buffer, encoding: 'json' | 'protobuf', draw: Draw): Buffer<ArrayBuffer> {
  const at = draw(body.length + 1);
  const until = at + draw(Math.min(16, body.length - at + 1));
  const piece = Buffer.from(pieces[draw(pieces.length)] ?? '');
  const inserted = [
    encoding === 'json' ? piece : Buffer.from(Array.from({ length: draw(6) }, () => draw(256))),
    Buffer.from([edges[draw(edges.length)] ?? 0]),
    Buffer.from(body.subarray(draw(body.length + 1)).subarray(0, draw(32))), // from elsewhere
    Buffer.alloc(0),
  ][draw(4)];
  // Over what is there, in its place, before it; or the end is cut off.
  if (draw(12) === 0) return Buffer.from(body.subarray(0, at));
  return Buffer.concat([body.subarray(0, at), inserted ?? Buffer.alloc(0), body.subarray(until)]);
}
