import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nestsTooDeep } from './nesting.ts';

test.each([
  ['flat', '{"a":[1,{"b":2}]}', false],
  ['256 levels', '['.repeat(256) + ']'.repeat(256), false],
  ['257 levels', '['.repeat(257) + ']'.repeat(257), true],
  ['a million openings', '{"a":'.repeat(1_000_000), true],
  ['brackets in text', JSON.stringify({ a: '['.repeat(1000), ['"\\{'.repeat(300)]: 1 }), false],
  ['many siblings', `[${'[],'.repeat(10_000)}[]]`, false],
])('%s', (_, text, isTooDeep) => {
  expect(nestsTooDeep(text)).toBe(isTooDeep);
});

test('what JSON.stringify makes of shallow values is never too deep', () => {
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 20 }), (value) => !nestsTooDeep(JSON.stringify(value))));
});
