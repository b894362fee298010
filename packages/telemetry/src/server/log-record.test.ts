import { LogRecord } from '@sallyport/core/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Judging } from './judging.ts';
import { judgeLogRecord } from './log-record.ts';

const receivedAt = 1_700_000_000_123;

function judge(event: unknown) {
  const judging = new Judging('events', '0');
  const record = judgeLogRecord(event, judging, receivedAt);
  const issues = judging.faults;
  expect(record === undefined).toBe(issues.length > 0);
  return { record, paths: issues.map(({ path }) => path), issues };
}

const valued = (value: unknown) => ({ attributes: [{ key: 'a', value }] });

test('a whole record comes through as it is', () => {
  const record = {
    timeUnixNano: '1700000000000000001',
    observedTimeUnixNano: '1700000000000000002',
    severityNumber: 17,
    severityText: 'error',
    body: { stringValue: 'text' },
    attributes: [{ key: 'event.name', value: { stringValue: 'session.started' } }],
    droppedAttributesCount: 3,
    flags: 1,
    traceId: '0123456789abcdef0123456789abcdef',
    spanId: '0123456789abcdef',
  };
  expect(judge(record).record).toEqual({ ...record, eventName: 'session.started' });
  expect(judge({ ...record, eventName: 'named' }).record?.eventName).toBe('named');
});

test('what is absent, null, zero or unknown', () => {
  expect(
    judge({ timeUnixNano: '0', traceId: '', spanId: '0'.repeat(16), body: null, attributes: null, new: 1 })
      .record,
  ).toEqual({
    timeUnixNano: '1700000000123000000',
    observedTimeUnixNano: null,
    severityNumber: 0,
    severityText: '',
    body: null,
    attributes: [],
    droppedAttributesCount: 0,
    flags: 0,
    eventName: null,
    traceId: null,
    spanId: null,
  });
  expect(judge({ observedTimeUnixNano: 7 }).record).toMatchObject({
    timeUnixNano: '7',
    observedTimeUnixNano: '7',
  });
});

describe('values', () => {
  test.each([
    [{ stringValue: 'a\ud800' }, { stringValue: 'a\ufffd' }],
    [{ intValue: '9007199254740993' }, { intValue: '9007199254740993' }],
    [{ intValue: '-9223372036854775808' }, { intValue: '-9223372036854775808' }],
    [{ intValue: 42 }, { intValue: '42' }],
    [{ intValue: '1e3' }, { intValue: '1000' }],
    [{ intValue: '007' }, { intValue: '7' }],
    [{ intValue: '9007199254740993.0' }, { intValue: '9007199254740993' }],
    [{ intValue: '-9.223372036854775808e18' }, { intValue: '-9223372036854775808' }],
    [{ intValue: '0.00e9' }, { intValue: '0' }],
    [{ intValue: '1200e-2' }, { intValue: '12' }],
    [{ doubleValue: 'NaN' }, { doubleValue: 'NaN' }],
    [{ doubleValue: '1.5' }, { doubleValue: 1.5 }],
    [{ boolValue: false }, { boolValue: false }],
    [{ bytesValue: '_-8' }, { bytesValue: '/+8=' }],
    [{ arrayValue: { values: [{ intValue: 1 }, {}] } }, { arrayValue: { values: [{ intValue: '1' }, {}] } }],
    [{ arrayValue: {} }, { arrayValue: { values: [] } }],
    [
      { kvlistValue: { values: [{ key: 'k', value: { boolValue: true } }] } },
      { kvlistValue: { values: [{ key: 'k', value: { boolValue: true } }] } },
    ],
    [{ stringValue: 'first', intValue: 2 }, { intValue: '2' }],
    [{ stringValue: null, toString: 'x', __proto__: { intValue: 1 } }, {}],
    [{}, {}],
    [undefined, {}],
  ])('%j', (value, judged) => {
    expect(judge(valued(value)).record?.attributes).toEqual([{ key: 'a', value: judged }]);
    if (value) expect(judge({ body: value }).record?.body).toEqual(judged);
  });
});

describe('faults are named by their path, without the value', () => {
  const value = 'events/0/attributes/0/value';
  test.each([
    ['text', 'events/0'],
    [null, 'events/0'],
    [[], 'events/0'],
    [{ timeUnixNano: 'now' }, 'events/0/timeUnixNano'],
    [{ timeUnixNano: '-1' }, 'events/0/timeUnixNano'],
    [{ timeUnixNano: '18446744073709551616' }, 'events/0/timeUnixNano'],
    // Its digits were lost when the JSON was parsed.
    [{ timeUnixNano: 1_700_000_000_000_000_000 }, 'events/0/timeUnixNano'],
    [{ severityNumber: 25 }, 'events/0/severityNumber'],
    [{ severityNumber: 1.5 }, 'events/0/severityNumber'],
    [{ severityNumber: 'SEVERITY_NUMBER_LOUD' }, 'events/0/severityNumber'],
    [{ severityText: 1 }, 'events/0/severityText'],
    [{ body: 'text' }, 'events/0/body'],
    [{ traceId: 'abc' }, 'events/0/traceId'],
    [{ traceId: 'z'.repeat(32) }, 'events/0/traceId'],
    [{ attributes: {} }, 'events/0/attributes'],
    [{ attributes: [1] }, 'events/0/attributes/0'],
    [{ attributes: [{ key: '', value: {} }] }, 'events/0/attributes/0/key'],
    [{ attributes: Array.from({ length: 1025 }, () => ({ key: 'a' })) }, 'events/0/attributes'],
    [valued('text'), value],
    [valued({ intValue: '9223372036854775808' }), `${value}/intValue`],
    [valued({ intValue: 9007199254740992 }), `${value}/intValue`],
    [valued({ intValue: '1.5' }), `${value}/intValue`],
    [valued({ intValue: '15e-1' }), `${value}/intValue`],
    [valued({ intValue: '1e19' }), `${value}/intValue`],
    [valued({ intValue: '1e999' }), `${value}/intValue`],
    [valued({ intValue: '9'.repeat(80) }), `${value}/intValue`],
    [valued({ doubleValue: '' }), `${value}/doubleValue`],
    [valued({ boolValue: 'false' }), `${value}/boolValue`],
    [valued({ bytesValue: '!' }), `${value}/bytesValue`],
    [valued({ arrayValue: [] }), `${value}/arrayValue`],
    [
      valued({ kvlistValue: { values: [{ key: 'k', value: { intValue: 'x' } }] } }),
      `${value}/kvlistValue/values/0/value/intValue`,
    ],
    [{ body: { stringValue: 'x'.repeat(256 * 1024) } }, 'events/0'],
  ])('%#: %j', (event, path) => {
    const { paths, issues } = judge(event);
    expect(paths).toEqual([path]);
    expect(JSON.stringify(issues)).not.toMatch(/LOUD|xxx|now/);
  });

  test('all of a record, up to a bound', () => {
    expect(judge({ severityText: 1, body: 2, attributes: [3, { key: 4 }] }).paths).toEqual([
      'events/0/attributes/0',
      'events/0/attributes/1/key',
      'events/0/severityText',
      'events/0/body',
    ]);
    expect(judge({ attributes: Array.from({ length: 1000 }, () => 1) }).paths).toHaveLength(16);
  });
});

test.each([
  ['SEVERITY_NUMBER_UNSPECIFIED', 0],
  ['SEVERITY_NUMBER_TRACE', 1],
  ['SEVERITY_NUMBER_INFO', 9],
  ['SEVERITY_NUMBER_FATAL4', 24],
])('%s is %i', (severityNumber, number) => {
  expect(judge({ severityNumber }).record?.severityNumber).toBe(number);
});

test('a value may be 32 deep, not more, and no depth is too much for the judge', () => {
  const nest = (depth: number): unknown =>
    depth === 1 ? { intValue: 1 } : { arrayValue: { values: [nest(depth - 1)] } };
  expect(judge({ body: nest(32) }).record).toBeDefined();
  expect(judge({ body: nest(33) }).record).toBeUndefined();
  expect(judge({ body: nest(5000) }).record).toBeUndefined();
});

describe('beside the schema', () => {
  const anyValue = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.record({ stringValue: fc.string({ unit: 'binary' }) }),
      fc.record({ intValue: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String) }),
      fc.record({ doubleValue: fc.double({ noNaN: true, noDefaultInfinity: true }) }),
      fc.record({ boolValue: fc.boolean() }),
      fc.record({ arrayValue: fc.record({ values: fc.array(tie('value'), { maxLength: 3 }) }) }),
      fc.record({
        kvlistValue: fc.record({
          values: fc.array(fc.record({ key: fc.string({ minLength: 1 }), value: tie('value') }), {
            maxLength: 3,
          }),
        }),
      }),
    ),
  })).value;
  const nanos = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String);
  const record = fc.record(
    {
      timeUnixNano: nanos,
      observedTimeUnixNano: nanos,
      severityNumber: fc.integer({ min: 0, max: 24 }),
      severityText: fc.string(),
      body: anyValue,
      attributes: fc.array(fc.record({ key: fc.string({ minLength: 1 }), value: anyValue }), {
        maxLength: 5,
      }),
    },
    { requiredKeys: [] },
  );

  test('what a sender may make is taken by both, and judged to something that is judged the same again', () => {
    fc.assert(
      fc.property(record, (event) => {
        const sent: unknown = JSON.parse(JSON.stringify(event));
        expect(LogRecord.safeParse(sent).success).toBe(true);
        const { record: judged } = judge(sent);
        expect(judge(JSON.parse(JSON.stringify(judged))).record).toEqual(judged);
      }),
    );
  });

  test('what the schema refuses is refused, apart from numbers for times and names for severities', () => {
    const broken = fc.oneof(
      fc.record({ severityNumber: fc.oneof(fc.integer({ min: 25 }), fc.integer({ max: -1 }), fc.boolean()) }),
      fc.record({ severityText: fc.oneof(fc.integer(), fc.object()) }),
      fc.record({ body: fc.oneof(fc.integer(), fc.string(), fc.array(fc.anything())) }),
      fc.record({ attributes: fc.oneof(fc.integer(), fc.string(), fc.object()) }),
      fc.record({ attributes: fc.array(fc.integer(), { minLength: 1 }) }),
    );
    fc.assert(
      fc.property(broken, (event) => {
        expect(LogRecord.safeParse(event).success).toBe(false);
        expect(judge(event).record).toBeUndefined();
      }),
    );
  });
});
