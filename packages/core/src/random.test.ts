import { expect, test } from 'vitest';
import { systemRandom } from './random.ts';

test('bytes are as many as asked for, of either kind of draw, and never the same again', () => {
  const seen = new Set<string>();
  let drawn = 0;
  for (let round = 0; round < 20; round += 1)
    for (const length of [1, 16, 32, 100, 1023, 1024, 1025, 4096]) {
      const bytes = systemRandom.bytes(length);
      expect(bytes.length).toBe(length);
      if (length < 16) continue;
      drawn += 1;
      // A part that the pool had given out before would be zeros.
      for (const part of [bytes.subarray(0, 16), bytes.subarray(-16)]) expect(part.some(Boolean)).toBe(true);
      seen.add(Buffer.from(bytes).toString('base64'));
    }
  expect(seen.size).toBe(drawn);
});

test("what was given out is the caller's alone", () => {
  const one = systemRandom.bytes(16);
  const kept = Buffer.from(one).toString('hex');
  one.fill(0);
  systemRandom.bytes(16);
  const other = systemRandom.bytes(16);
  expect(Buffer.from(other).toString('hex')).not.toBe(kept);
  expect(other.some(Boolean)).toBe(true);
});

test('fractions spread over the whole range', () => {
  const quarters = new Set<number>();
  for (let draw = 0; draw < 200; draw++) {
    const fraction = systemRandom.fraction();
    expect(fraction).toBeGreaterThanOrEqual(0);
    expect(fraction).toBeLessThan(1);
    quarters.add(Math.floor(fraction * 4));
  }
  expect(quarters.size).toBe(4);
});
