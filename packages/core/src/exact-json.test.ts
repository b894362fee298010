import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseExactJson } from './exact-json.ts';

/** What it has to give, by the means that JSON.parse has for it. */
function revived(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
      ? context?.source
      : value,
  );
}

function outcome(parse: (text: string) => unknown, text: string): unknown {
  try {
    return { value: parse(text) };
  } catch (error) {
    return (error as Error).name;
  }
}

const number = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.double().map(String),
  fc.constantFrom('9007199254740993', '-9007199254740992', '9007199254740991', '1e18', '1E+400', '-0', '1e3'),
  fc.constantFrom(
    '9007199254740993.5',
    '90071992547409930e-1',
    '0.12345678901234567890',
    '10000000000000000.0',
  ),
  // None that JSON knows.
  fc.constantFrom('00000000000000000001', '+10000000000000000', '10000000000000000.', '1e18e', '--1e18'),
);
const piece = fc.oneof(
  { weight: 4, arbitrary: number },
  fc.constantFrom('{', '}', '[', ']', ',', ':', ' ', '\n', '"', '\\', '\\"', '"a":', 'null', 'x', '\ufffd'),
  number.map((digits) => `"${digits}"`),
  fc.string().map((text) => JSON.stringify(text)),
);

test('no digit is lost, and what is no JSON stays none', () => {
  const json = fc.json().chain((text) => fc.array(number, { maxLength: 4 }).map((all) => [text, ...all]));
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
        json.map((items) => `{"a\\"1e18,":[${items.join(' ,')}] , "b" : ${items.at(-1)}}`),
      ),
      (text) => {
        expect(outcome(parseExactJson, text), text).toEqual(outcome(revived, text));
      },
    ),
    { numRuns: 3000 },
  );
});

test.each([
  '{10000000000000000:1}',
  '{"a":1,10000000000000000 :1}',
  '[1 10000000000000000]',
  '10000000000000000x',
])('%s is no JSON', (text) => {
  expect(() => parseExactJson(text)).toThrow(SyntaxError);
});

test('large numbers by the hundred thousand', () => {
  const digits = '9007199254740993';
  const text = `[${Array(400_000).fill(digits).join(',')}]`;
  expect(parseExactJson(text)).toEqual(Array(400_000).fill(digits));
});
