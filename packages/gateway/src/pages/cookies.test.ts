import { expect, test } from 'vitest';
import { readCookies } from './cookies.ts';

test.each<[string | undefined, [string, string][]]>([
  [undefined, []],
  ['', []],
  [
    'a=1; b=two_-',
    [
      ['a', '1'],
      ['b', 'two_-'],
    ],
  ],
  [' a = "1" ;', [['a', '1']]],
  ['a=1; a=2', [['a', '1']]],
  ['a=', [['a', '']]],
  ['a; =1; b=x y; c=x=y', []],
])('%j is read as %j', (header, cookies) => expect([...readCookies(header)]).toEqual(cookies));

// 16,000 spaces took a second, in a reader that looked at each place for the end of all of them; so many would take minutes.
test('a long header holds nobody up', () => {
  for (const header of [`a=${' '.repeat(200_000)}!`, `${' '.repeat(200_000)}!`])
    expect([...readCookies(header)]).toEqual([]);
  expect([...readCookies('a=b;'.repeat(50_000))]).toEqual([['a', 'b']]);
});
