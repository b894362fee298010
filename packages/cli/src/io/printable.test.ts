import { printableJson } from '@sallyport/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printable, printableLines } from './printable.ts';
import { table } from './table.ts';

test.each([
  ['an escape sequence', 'a\u001b[2J', 'a [2J'],
  ['a C1 control character', 'a\u009b2J', 'a 2J'],
  ['a turn of the direction', 'a\u202egpj.exe', 'a gpj.exe'],
  ['isolates and marks', '\u2066a\u2069\u200e\u200f\u061cb', ' a    b'],
  ['separators', 'a\u2028b\u2029c', 'a b c'],
  ['what is to be seen', 'מחשב 👩‍💻 é', 'מחשב 👩‍💻 é'],
])('of other people no terminal is given %s', (_, text, shown) => {
  expect(printable(text)).toBe(shown);
  expect(printableLines(`${text}\n${text}`)).toBe(`${shown}\n${shown}`);
  expect(table(['A', 'B'], [['x', text]]).split('\n')[1]).toBe(`x  ${shown}`);
});

test('JSON says the same, and has nothing that steers a terminal', () => {
  const values = fc.array(
    fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\u009b2J', '\u202e', '\u2028', '\x7f')),
  );
  fc.assert(
    fc.property(values, (value) => {
      const shown = printableJson(JSON.stringify(value));
      expect(JSON.parse(shown)).toEqual(value);
      expect(printable(shown)).toBe(shown);
    }),
  );
});
