import { seededRandom } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { newUserCode, readUserCode, showUserCode } from './device-grant.ts';

test('user codes use all letters equally often', () => {
  const random = seededRandom(3);
  const counts = new Map<string, number>();
  for (let count = 0; count < 5000; count += 1)
    for (const letter of newUserCode(random)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  expect([...counts.keys()].sort().join('')).toBe('BCDFGHJKLMNPQRSTVWXZ');
  // 2000 expected of each, standard deviation 44; a bare modulo would give the first 16 letters 2031 and the rest 1875.
  for (const count of counts.values()) expect(Math.abs(count - 2000)).toBeLessThan(180);
});

test('bytes past the last whole multiple are drawn again', () => {
  const bytes = [255, 240, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];
  const random = { fraction: () => 0, bytes: (length: number) => Uint8Array.from(bytes.splice(0, length)) };
  expect(newUserCode(random)).toBe('BCDFGHJK');
});

// The last one as a Japanese or Chinese keyboard writes it.
test.each(['bcdf-ghjk', ' BCDF GHJK ', 'b.c.d.f.g.h.j.k', 'BCDF\u2013GHJK', 'ＢＣＤＦ－ＧＨＪＫ'])(
  'reads %j',
  (typed) => {
    expect(readUserCode(typed)).toBe('BCDFGHJK');
  },
);

test('shows the code in two halves', () => expect(showUserCode('BCDFGHJK')).toBe('BCDF-GHJK'));
