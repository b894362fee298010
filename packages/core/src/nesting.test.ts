import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonExcess, maxBodyNames, maxBodyValues, nestsTooDeep } from './nesting.ts';

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

const most = (pattern: string, count: number) => pattern.repeat(count).slice(0, -1);

test.each([
  ['items', `[${most('0,', maxBodyValues)}]`, undefined],
  ['an item more', `[${most('0,', maxBodyValues + 1)}]`, 'values'],
  ['empty objects', `[${most('{},', maxBodyValues / 2)}]`, undefined],
  ['an empty object more', `[${most('{},', maxBodyValues / 2 + 1)}]`, 'values'],
  ['commas in text', JSON.stringify([','.repeat(maxBodyValues), '[{'.repeat(maxBodyValues)]), undefined],
  ['too deep before they are too many', '['.repeat(maxBodyValues + 1), 'depth'],
])('values of a text: %s', (_, text, excess) => {
  expect(jsonExcess(text)).toBe(excess);
});

const named = (count: number, member: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => member(index)).join();
const padding = JSON.stringify('":"'.repeat(maxBodyValues));

test.each([
  ['of one object', `{"":${padding},${named(maxBodyNames - 1, (index) => `"${index}":0`)}}`, undefined],
  ['one more', `{"":${padding},${named(maxBodyNames, (index) => `"${index}":0`)}}`, 'names'],
  ['of as many objects', `[${padding},${named(maxBodyNames + 1, (index) => `{"${index}" : 0}`)}]`, 'names'],
  ['of objects alike', `[${padding},${named(maxBodyNames * 4, () => '{"a":0,"b":0}')}]`, undefined],
  ['of a text that is not large', `{${named(maxBodyNames + 1, (index) => `"${index}":0`)}}`, undefined],
  ['texts that are none', `[${padding},${named(maxBodyNames + 1, (index) => `"${index}"`)}]`, undefined],
  ['a text, and then many colons', `[${padding}${':'.repeat(maxBodyValues)}`, undefined],
])('names of members: %s', (_, text, excess) => {
  expect(jsonExcess(text)).toBe(excess);
});
