import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toAttributes } from './any-value.ts';
import { ByteWriter } from './byte-writer.ts';
import { createRedactor } from './redact.ts';
import { createAttributesWriter } from './write-attributes.ts';

const taken = new Set(['event.name', 'service.name']);

test('the short way writes what the long one does, again and again', () => {
  const redactor = createRedactor({ home: '/home/jane' });
  const write = createAttributesWriter(redactor, (name) => !taken.has(name));
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'binary', minLength: 60, maxLength: 70 }),
    fc.constantFrom('/home/jane/x', 'Bearer abc', 'sk-abc', 'plain', 'a\ud800', '"', '\u2028'),
  );
  const name = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('token', 'event.name', 'a', '__proto__', '/home/jane'),
  );
  const value = fc.oneof(
    text,
    fc.boolean(),
    fc.double(),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.constant(undefined),
  );
  fc.assert(
    fc.property(fc.dictionary(name, value), (values) => {
      const expected = toAttributes(values, redactor).attributes.filter(({ key }) => !taken.has(key));
      const into = new ByteWriter();
      const isWritten = write(values, into);
      if (Object.keys(values).every((key) => key.length <= 64)) expect(isWritten).toBe(true);
      if (isWritten) expect(`[${into.toString(into.length > 0 ? 1 : 0)}]`).toBe(JSON.stringify(expected));
    }),
    { numRuns: 2000 },
  );
});

test.each([
  [{ a: [1] }],
  [{ a: { b: 1 } }],
  [{ a: null }],
  [{ a: 1n }],
  [{ a: new Date(0) }],
  [{ ['k'.repeat(65)]: 1 }],
])('%#: is left to the long way', (values) => {
  expect(createAttributesWriter(createRedactor(), () => true)(values, new ByteWriter())).toBe(false);
});

test('a text that was redacted is not kept', () => {
  let looked = 0;
  const redactor = {
    isSecret: () => false,
    text: (value: string) => (looked++, value.replace('sk-1', '[redacted]')),
  };
  const write = createAttributesWriter(redactor, (name) => !taken.has(name));
  for (let round = 0; round < 3; round++) write({ a: 'sk-1', b: 'plain' }, new ByteWriter());
  // Both names and the plain text once, the secret each time.
  expect(looked).toBe(2 + 1 + 3);
});
