import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFrameWalk } from './frame-walk.ts';

function frame(length: number, masked: boolean): Buffer {
  const extended = length < 126 ? Buffer.alloc(0) : length < 65_536 ? Buffer.alloc(2) : Buffer.alloc(8);
  if (extended.length === 2) extended.writeUInt16BE(length);
  if (extended.length === 8) extended.writeBigUInt64BE(BigInt(length));
  const short = extended.length === 0 ? length : extended.length === 2 ? 126 : 127;
  const mask = Buffer.alloc(masked ? 4 : 0, 7);
  return Buffer.concat([
    Buffer.from([0x82, short | (masked ? 0x80 : 0)]),
    extended,
    mask,
    Buffer.alloc(length, 0x88),
  ]);
}

function cut(sizes: Iterator<number>): number {
  const next = sizes.next();
  return next.done === true ? 1 : next.value;
}

test('frames end where they end, however they are cut', () => {
  const length = fc.oneof(fc.nat(200), fc.constantFrom(0, 125, 126, 65_535, 65_536, 70_000));
  fc.assert(
    fc.property(
      fc.array(fc.tuple(length, fc.boolean()), { maxLength: 6 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 9_000 })),
      (frames, cuts) => {
        const bytes = Buffer.concat(frames.map(([size, masked]) => frame(size, masked)));
        const ends = new Set<number>();
        for (const [size, masked] of frames) ends.add(Math.max(0, ...ends) + frame(size, masked).length);
        const walk = createFrameWalk();
        for (let at = 0; at < bytes.length;) {
          const chunk = bytes.subarray(at, at + cut(cuts));
          const first = [...ends].sort((a, b) => a - b).find((end) => end > at && end <= at + chunk.length);
          expect(walk.walk(chunk)).toBe(first === undefined ? chunk.length : first - at);
          at += chunk.length;
          expect(walk.isBetween).toBe(ends.has(at));
        }
      },
    ),
    { numRuns: 200 },
  );
});
