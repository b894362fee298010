import { ServiceError } from '@sallyport/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeLogsRequest, type LogsRequest, type OtlpValue } from '../testing/otlp-encoder.ts';
import { mutated, randomBody } from '../testing/otlp-mutations.ts';
import { plainLogsRequest, writeJson } from '../testing/otlp-plain.ts';
import { drawsOf } from '../testing/otlp-random.ts';
import { summarize } from './block-summary.ts';
import { decodeBlock, takeRequest } from './block.ts';
import { decodeLogs, type LogsBody } from './logs-body.ts';
import type { OtlpEncoding } from './otlp-answer.ts';
import { judgePlainRequest } from './plain-request.ts';

// A plain request is judged in its bytes. What the decoder says is the truth: what is found plain, it takes whole, with the
// same summary. SALLYPORT_FUZZ_RUNS=1000000 SALLYPORT_FUZZ_SEED=7 looks further.
const runs = Number(process.env['SALLYPORT_FUZZ_RUNS'] ?? 6_000);
const seed = Number(process.env['SALLYPORT_FUZZ_SEED'] ?? 1);
const receivedAt = 1_700_000_000_123;
const encodings: readonly OtlpEncoding[] = ['json', 'protobuf'];

function plainBody(encoding: OtlpEncoding, of: number): LogsBody & { readonly bytes: Buffer<ArrayBuffer> } {
  const request = plainLogsRequest(of);
  return { encoding, bytes: encoding === 'json' ? writeJson(request, of) : encodeLogsRequest(request) };
}

function bodyOf(encoding: OtlpEncoding, request: LogsRequest): LogsBody {
  const bytes = encoding === 'json' ? Buffer.from(JSON.stringify(request)) : encodeLogsRequest(request);
  return { encoding, bytes };
}

function decoded(body: LogsBody): unknown {
  try {
    const { groups, accepted, rejected, message } = decodeLogs(body, receivedAt);
    return { records: accepted, summary: summarize(groups, body.bytes), rejected, message };
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

/** Whether it is plain; if so, the decoder must say the same. */
function isPlain(body: LogsBody): boolean {
  const plain = judgePlainRequest(body, receivedAt);
  if (plain === undefined) return false;
  const asDecoded = decoded(body);
  const why = `${body.encoding} ${Buffer.from(body.bytes).toString('base64')}`;
  expect(asDecoded, why).toEqual({ ...plain, rejected: 0, message: '' });
  return true;
}

test.each(encodings)(
  'what exporters send in %s is plain, and is stored and read as it is decoded',
  (encoding) => {
    fc.assert(
      fc.property(fc.integer(), (of) => {
        const body = plainBody(encoding, of);
        expect(isPlain(body)).toBe(true);
        const { blocks, ...answer } = takeRequest(body, receivedAt);
        const { groups, ...judged } = decodeLogs(body, receivedAt);
        expect(answer).toEqual(judged);
        expect(blocks).toMatchObject([{ form: encoding, summary: summarize(groups, body.bytes) }]);
        const head = { ...blocks[0]!, lastId: 100, accountId: 'account', receivedAt, skewMs: null };
        expect(decodeBlock(head, structuredClone(blocks[0]!.content)).groups).toEqual(groups);
      }),
      { numRuns: 300 },
    );
  },
);

test.each(encodings)('any valid request in %s is plain only as it is decoded', (encoding) => {
  const outcomes = { true: 0, false: 0 };
  for (let of = 0; of < 1000; of++) outcomes[`${isPlain({ encoding, bytes: randomBody(encoding, of) })}`]++;
  expect(outcomes.true).toBeGreaterThan(100);
});

test.each(encodings)(
  `${runs} mutated bodies in %s are plain only as they are decoded`,
  { timeout: 60_000 + runs * 5 },
  (encoding) => {
    const draw = drawsOf(seed);
    const outcomes = { true: 0, false: 0 };
    let body = Buffer.alloc(0);
    for (let run = 0; run < runs; run++) {
      // Three mutations of each, one on top of the other.
      if (run % 3 === 0) body = plainBody(encoding, draw(2 ** 31)).bytes;
      if (draw(2) === 0) body = mutated(body, encoding, draw);
      else body[draw(body.length)] = draw(256); // which leaves lengths as they are
      outcomes[`${isPlain({ encoding, bytes: body })}`]++;
    }
    // Mutations that are never plain, or always, would test little.
    expect(outcomes.true).toBeGreaterThan(runs / 50);
    expect(outcomes.false).toBeGreaterThan(runs / 4);
  },
);

/** The request of one record with this in it, within the other members of its form. */
const recordOf = (json: string) => `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{${json}}]}]}]}`;
const valueOf = (json: string) => recordOf(`"body":${json}`);

test.each([
  ['a text with escapes', valueOf('{"stringValue":"\\u00e4 \\ud800 \\n\\/\\""}'), true],
  ['a text with an escape that is none', valueOf('{"stringValue":"\\x"}'), false],
  ['a text with a short escape of four digits', valueOf('{"stringValue":"\\u00e"}'), false],
  ['a text with a line end', valueOf('{"stringValue":"\n"}'), false],
  [
    'a key with an escape, which may be any name',
    recordOf('"attributes":[{"key":"\\u0061","value":{}}]'),
    false,
  ],
  ['a key that is empty', recordOf('"attributes":[{"key":"","value":{}}]'), false],
  ['an attribute without a value', recordOf('"attributes":[{"key":"a"}]'), false],
  ['a name of an event with an escape', recordOf('"eventName":"\\u0061"'), false],
  ['two members of a value', valueOf('{"stringValue":"a","boolValue":true}'), false],
  ['a member that comes twice', recordOf('"flags":1,"flags":2'), false],
  ['a member that is unknown', recordOf('"__proto__":1'), false],
  ['a member whose name has an escape', recordOf('"fl\\u0061gs":1'), false],
  ['null', recordOf('"body":null'), false],
  ['a comma before the end', recordOf('"flags":1,'), false],
  ['no comma', recordOf('"flags":1 "body":{}'), false],
  ['a comma at the beginning', recordOf(',"flags":1'), false],
  ['more behind the end', `${recordOf('')}{}`, false],
  ['space around', ` \r\n\t${recordOf(' "flags" : 1 ')} `, true],
  ['another space', `\u00a0${recordOf('')}`, false],
  ['a mark of the byte order', `\ufeff${recordOf('')}`, false],
  ['a severity that is none', recordOf('"severityNumber":25'), false],
  ['a severity with a fraction', recordOf('"severityNumber":9.0'), false],
  ['a negative severity', recordOf('"severityNumber":-0'), false],
  ['a number with zeros before it', recordOf('"flags":01'), false],
  ['a time as a small number', recordOf('"timeUnixNano":1700000000'), true],
  ['a time as a number that lost digits', recordOf('"timeUnixNano":1700000000000000001'), false],
  ['a time with zeros before it', recordOf('"timeUnixNano":"0170"'), false],
  ['a time of nothing', recordOf('"timeUnixNano":""'), false],
  ['no time, in digits', recordOf('"timeUnixNano":"0","observedTimeUnixNano":"5"'), true],
  ['an id of zeros', recordOf(`"traceId":"${'0'.repeat(32)}"`), true],
  ['an id in capital letters', recordOf('"spanId":"ABCDEF0123456789"'), true],
  ['an id that is too short', recordOf('"spanId":"abcdef"'), false],
  ['an id that is no hex', recordOf('"spanId":"xbcdef0123456789"'), false],
  ['an integer as a number', valueOf('{"intValue":-12}'), true],
  ['an integer as a large number', valueOf('{"intValue":9007199254740993}'), false],
  ['an integer with a fraction', valueOf('{"intValue":1.5}'), false],
  [
    'an integer as the longest text that is sure to be one',
    valueOf('{"intValue":"-999999999999999999"}'),
    true,
  ],
  ['an integer with a space', valueOf('{"intValue":"- 1"}'), false],
  ['an integer that begins with a space', valueOf('{"intValue":" 1"}'), false],
  ['a sign alone', valueOf('{"intValue":"-"}'), false],
  ['a double', valueOf('{"doubleValue":-1.25e-7}'), true],
  ['-0', valueOf('{"doubleValue":-0}'), true],
  ['a double that is none', valueOf('{"doubleValue":1e400}'), false],
  ['a double that ends with its point', valueOf('{"doubleValue":1.}'), false],
  ['a double that begins with its point', valueOf('{"doubleValue":.1}'), false],
  ['a double without digits in its exponent', valueOf('{"doubleValue":1e+}'), false],
  ['a boolean that is none', valueOf('{"boolValue":trux}'), false],
  ['a boolean as a text', valueOf('{"boolValue":"true"}'), false],
  ['base64 of another alphabet', valueOf('{"bytesValue":"_-8="}'), true],
  ['no base64', valueOf('{"bytesValue":"a*"}'), false],
  ['base64 with too much behind it', valueOf('{"bytesValue":"a==="}'), false],
  ['a list of nothing', valueOf('{"arrayValue":{}}'), true],
  ['a list with null', valueOf('{"arrayValue":{"values":[null]}}'), false],
  [
    'a resource behind its records',
    '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{}]}],"resource":{}}]}',
    false,
  ],
  ['a resource with a name', '{"resourceLogs":[{"resource":{"name":"x"},"scopeLogs":[]}]}', false],
  ['no request', '[]', false],
  ['nothing', '', false],
])('%s', (_name, json, expected) => {
  expect(isPlain({ encoding: 'json', bytes: Buffer.from(json) })).toBe(expected);
});

test('bytes that are no UTF-8 are not plain in JSON', () => {
  const bytes = Buffer.from(valueOf('{"stringValue":"a"}'));
  bytes[bytes.indexOf('"a"') + 1] = 0xff;
  expect(isPlain({ encoding: 'json', bytes })).toBe(false);
});

const nested = (depth: number): OtlpValue =>
  depth <= 1 ? { stringValue: 'x' } : { arrayValue: { values: [nested(depth - 1)] } };
const ofBody = (body: OtlpValue): LogsRequest => ({
  resourceLogs: [{ scopeLogs: [{ logRecords: [{ body }] }] }],
});
const ofAttributes = (length: number): LogsRequest => ({
  resourceLogs: [
    {
      scopeLogs: [{ logRecords: [{ attributes: Array.from({ length }, () => ({ key: 'k', value: {} })) }] }],
    },
  ],
});

test.each(encodings)(
  'in %s, a request at a limit is plain, and one beyond it is left to the decoder',
  (encoding) => {
    const plain = (request: LogsRequest) => isPlain(bodyOf(encoding, request));
    expect([plain(ofBody(nested(32))), plain(ofBody(nested(33)))]).toEqual([true, false]);
    const ofLength = (length: number) => plain(ofBody({ stringValue: 'x'.repeat(length) }));
    expect([ofLength(16_000), ofLength(17_000)]).toEqual([true, false]);
    const ofScope = (name: string) =>
      plain({ resourceLogs: [{ scopeLogs: [{ scope: { name }, logRecords: [{}] }] }] });
    expect([ofScope('x'.repeat(4000)), ofScope('x'.repeat(4200))]).toEqual([true, false]);
    const ofSchema = (schemaUrl: string) =>
      plain({ resourceLogs: [{ schemaUrl, scopeLogs: [{ schemaUrl, logRecords: [{}] }] }] });
    expect([ofSchema('x'.repeat(4000)), ofSchema('x'.repeat(4200))]).toEqual([true, false]);
    expect(plain(ofAttributes(1025))).toBe(false);
  },
);

/** What becomes longest as the JSON that the limits are about. */
test.each(encodings)(
  'in %s, the longest plain record and origin are within the rules, whatever is in them',
  (encoding) => {
    // In JSON, a name with escapes is not plain; in protobuf, nothing has escapes.
    const signs = ['x', 'ä', '😀', ...(encoding === 'protobuf' ? ['\u0001', '"'] : [])];
    const schemaUrl = '\u0001'.repeat(encoding === 'protobuf' ? 4000 : 680);
    const values: OtlpValue[] = [
      {},
      { arrayValue: { values: [] } },
      { kvlistValue: { values: [] } },
      { bytesValue: '' },
      { boolValue: false },
      { doubleValue: 5e20 },
      { doubleValue: -1 / 3 },
      { intValue: '1' },
    ];
    const fills = [
      ...signs.map((sign) => (size: number) => ({
        key: 'event.name',
        value: { stringValue: sign.repeat(size) },
      })),
      (size: number) => ({ key: 'k', value: { stringValue: '\u0001'.repeat(size) } }),
      ...values.map((value) => (size: number) => ({
        key: 'k',
        value: { arrayValue: { values: new Array<OtlpValue>(size).fill(value) } },
      })),
    ];
    for (const fill of fills)
      for (const request of [
        (size: number) => ({
          resourceLogs: [{ scopeLogs: [{ logRecords: [{ attributes: [fill(size)] }] }] }],
        }),
        (size: number) => ({
          resourceLogs: [{ resource: { attributes: [fill(size)] }, scopeLogs: [{ logRecords: [{}] }] }],
        }),
        (size: number) => ({
          resourceLogs: [
            {
              resource: { attributes: [fill(size)] },
              schemaUrl,
              scopeLogs: [{ logRecords: [{}] }],
            },
          ],
        }),
      ]) {
        // The largest size that is plain, by halving: there the decoder agrees.
        let [low, high] = [0, 20_000];
        while (high - low > 1) {
          const middle = (low + high) >> 1;
          if (judgePlainRequest(bodyOf(encoding, request(middle)), receivedAt)) low = middle;
          else high = middle;
        }
        expect(isPlain(bodyOf(encoding, request(low)))).toBe(true);
        expect(low).toBeGreaterThan(100);
      }
  },
);

test.each(encodings)('in %s, texts of a megabyte are gone through once', (encoding) => {
  const long = 'x'.repeat(1024 * 1024);
  for (const request of [
    { resourceLogs: [{ schemaUrl: long, scopeLogs: [] }] },
    { resourceLogs: [{ scopeLogs: [{ scope: { name: long }, logRecords: [] }] }] },
    ofBody({ stringValue: long }),
    ofBody({ stringValue: '\\"'.repeat(512 * 1024) }),
    ofAttributes(100_000),
    { resourceLogs: Array.from({ length: 50_000 }, () => ({ schemaUrl: 'x', scopeLogs: [] })) },
  ])
    // The runner's limit is the bound: a quadratic look would take minutes.
    isPlain(bodyOf(encoding, request));
});
