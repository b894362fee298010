import { expect, test } from 'vitest';
import { toAttributes } from './any-value.ts';

const large = 'many words '.repeat(100_000);
const many = Array.from({ length: 100 }, () => large);

test.each([
  { attributes: Object.fromEntries(many.entries()) },
  { list: many, last: large },
  { set: new Set(many.map((text, index) => text + String(index))) },
  { map: new Map(many.map((text, index) => [index, { text }])) },
  { stacks: many.map((stack) => Object.assign(new Error('x'), { stack })) },
])('of many large texts no more is looked at than an event may have: %#', (values) => {
  let looked = 0;
  const redactor = { isSecret: () => false, text: (value: string) => ((looked += value.length), value) };
  const { attributes } = toAttributes(values, redactor);
  expect(looked).toBeLessThan(256 * 1024);
  expect(
    JSON.stringify(attributes).match(/many words [^"]*\.\.\.\[truncated \d+ bytes\]/g)?.length,
  ).toBeGreaterThan(99);
});

test('a stack that the program has made something else of is no stack', () => {
  const error = Object.assign(new TypeError('no such item'), { stack: [{ line: 1 }] });
  const redactor = { isSecret: () => false, text: (value: string) => value };
  expect(toAttributes({ error }, redactor).attributes).toEqual([
    { key: 'error', value: { stringValue: 'TypeError: no such item' } },
  ]);
});
