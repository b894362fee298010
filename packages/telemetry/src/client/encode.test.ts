import { ManualClock, seededRandom } from '@sallyport/core/testing';
import { LogRecord } from '@sallyport/core/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attributeOf, type SinkEvent } from '../../test/sink.ts';
import { ByteWriter } from './byte-writer.ts';
import { createEncoder, type Encoder, type QueuedEvent } from './encode.ts';
import type { TelemetryEvent } from './event.ts';
import { createEventIds } from './event-id.ts';
import { createRedactor } from './redact.ts';

const maxBytes = 64 * 1024;

function makeEncoder(clock = new ManualClock(Date.UTC(2026, 10, 28))) {
  return createEncoder({
    clock,
    ids: createEventIds(seededRandom()),
    redactor: createRedactor({ home: '/home/jane' }),
    own: { 'service.name': 'agent_desktop' },
    maxBytes,
  });
}

function jsonOf(encoder: Encoder, event: TelemetryEvent): string {
  const queued = encoder.take(event);
  const into = new ByteWriter();
  return queued && encoder.write(queued, into) ? into.toString() : 'null';
}

function encode(event: TelemetryEvent): SinkEvent & { droppedAttributesCount?: number } {
  const record = JSON.parse(jsonOf(makeEncoder(), event)) as SinkEvent;
  expect(LogRecord.safeParse(record).error).toBeUndefined();
  return record;
}

test('an event is an OTLP log record', () => {
  const attributes = {
    count: 3,
    ratio: 0.5,
    big: 2n ** 62n,
    ok: true,
    list: [1, 'a'],
    map: { a: null },
    none: undefined,
  };
  expect(encode({ name: 'session.started', body: 'text', attributes })).toEqual({
    timeUnixNano: `${Date.UTC(2026, 10, 28)}000000`,
    observedTimeUnixNano: `${Date.UTC(2026, 10, 28)}000000`,
    severityNumber: 9,
    severityText: 'info',
    body: { stringValue: 'text' },
    attributes: [
      { key: 'event.name', value: { stringValue: 'session.started' } },
      {
        key: 'event.id',
        value: {
          stringValue: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/) as string,
        },
      },
      { key: 'service.name', value: { stringValue: 'agent_desktop' } },
      { key: 'count', value: { intValue: '3' } },
      { key: 'ratio', value: { doubleValue: 0.5 } },
      { key: 'big', value: { intValue: '4611686018427387904' } },
      { key: 'ok', value: { boolValue: true } },
      { key: 'list', value: { arrayValue: { values: [{ intValue: '1' }, { stringValue: 'a' }] } } },
      { key: 'map', value: { kvlistValue: { values: [{ key: 'a', value: {} }] } } },
    ],
  });
});

test.each([
  [0, ''],
  [1, 'trace'],
  [5, 'debug'],
  [12, 'info'],
  [13, 'warn'],
  [17, 'error'],
  [24, 'fatal'],
])('a severity of %i without a text has that of its range: "%s"', (severityNumber, severityText) => {
  const expected = { severityNumber, severityText };
  expect(encode({ name: 'x', severityNumber })).toMatchObject(expected);
  const long = { list: [] };
  expect(encode({ name: 'x', severityNumber, attributes: long })).toMatchObject(expected);
});

test('what is no plain value is not lost: it becomes one, or a text', () => {
  const bare = Object.assign(Object.create(null) as object, { a: 1 });
  const odd: readonly (readonly [unknown, unknown])[] = [
    [
      new URL('https://jane:hunter2@host/x?token=abc'),
      { stringValue: 'https://[redacted]@host/x?token=[redacted]' },
    ],
    [/a+/g, { stringValue: '/a+/g' }],
    [new String('boxed'), { stringValue: 'boxed' }],
    [new URLSearchParams('a=1'), { stringValue: 'a=1' }],
    [Symbol('s'), { stringValue: 'Symbol(s)' }],
    [Buffer.from('Bearer hunter2'), { stringValue: '[14 bytes]' }],
    [new Float64Array(2).buffer, { stringValue: '[16 bytes]' }],
    [
      new Map<unknown, unknown>([
        ['a', 1],
        [2, 'b'],
      ]),
      {
        kvlistValue: {
          values: [
            { key: 'a', value: { intValue: '1' } },
            { key: '2', value: { stringValue: 'b' } },
          ],
        },
      },
    ],
    [
      new Map([['token', 'abc']]),
      { kvlistValue: { values: [{ key: 'token', value: { stringValue: '[redacted]' } }] } },
    ],
    [new Set([1]), { arrayValue: { values: [{ intValue: '1' }] } }],
    [bare, { kvlistValue: { values: [{ key: 'a', value: { intValue: '1' } }] } }],
    [{}, { kvlistValue: { values: [] } }],
    [[], { arrayValue: { values: [] } }],
  ];
  for (const [value, written] of odd) {
    const { attributes } = encode({ name: 'x', attributes: { of: value } });
    expect(attributes.at(-1)).toEqual({ key: 'of', value: written });
  }
});

test('the time has the nanoseconds of the monotonic clock', async () => {
  const clock = new ManualClock(1_000_000_000_000);
  await clock.advance(5.25);
  const json = jsonOf(makeEncoder(clock), { name: 'x' });
  expect((JSON.parse(json) as SinkEvent).timeUnixNano).toBe('1000000000005250000');
});

test.each(['NaNNaN', '-1', '1e21', String(2n ** 64n), '', 1, null, {}])('a time of %j is none', (time) => {
  const event = { name: 'x', timeUnixNano: time as string, observedTimeUnixNano: time as string };
  expect(encode(event).timeUnixNano).toBe(encode({ name: 'x' }).timeUnixNano);
});

test('an attribute cannot pose as what the batcher says itself', () => {
  const event = encode({ name: 'x', attributes: { 'event.id': 'mine', 'service.name': 'other' } });
  expect(event.attributes.map(({ key }) => key)).toEqual(['event.name', 'event.id', 'service.name']);
  expect(attributeOf(event, 'service.name')).toBe('agent_desktop');
});

test('secrets are hidden at every depth, by name and by form', () => {
  const error = new Error('failed');
  error.stack = 'Error: failed\n    at f (/home/jane/app/x.ts:1)';
  const attributes = {
    password: 'hunter2',
    deep: [{ inner: { session_key: 'hunter2' } }],
    argv: ['--token', 'hunter2', '--verbose'],
    headers: [
      ['x-api-key', 'hunter2'],
      ['accept', 'all'],
    ],
    usage: { input_tokens: 12_345, cached: { max_tokens: 4096 } },
    output_tokens: 678,
    has_token: true,
    error,
    'key sk-hunter2': 1,
  };
  const event = { name: 'x', body: 'Bearer hunter2', severityText: 'Bearer hunter2', attributes };
  const text = JSON.stringify(encode(event));
  expect(text).not.toMatch(/hunter2|jane/);
  expect(text).toContain('~/app/x.ts');
  // What is none stays, though its name is one of secrets.
  for (const kept of ['--verbose', 'all', '12345', '4096', '678', 'true']) expect(text).toContain(kept);
});

test('cut texts say so, never cut a character, and the largest goes first', () => {
  const event = encode({
    name: 'x',
    attributes: { long: '\u{1F600}'.repeat(20_000), other: 'b'.repeat(1000) },
  });
  const long = String(attributeOf(event, 'long'));
  expect(long).toMatch(/^(?:\u{1F600})+\.\.\.\[truncated \d+ bytes\]$/u);
  expect(attributeOf(event, 'other')).toHaveLength(1000);
  expect(event.droppedAttributesCount).toBe(1);
});

test('what is too large without any text to cut goes as a whole', () => {
  const list = Array.from({ length: 900 }, (_, index) => 'x'.repeat(100) + String(index));
  const event = encode({ name: 'x', attributes: { list, kept: 1 } });
  expect(event.attributes.map(({ key }) => key)).toContain('kept');
  expect(event.attributes.map(({ key }) => key)).not.toContain('list');
  expect(event.droppedAttributesCount).toBe(1);
});

test('many large texts are cut, and none of it is lost', () => {
  const large = 'many words '.repeat(100_000);
  const event = encode({
    name: 'x',
    attributes: Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`a${index}`, large])),
  });
  expect(attributeOf(event, 'a99')).toMatch(/^many words .*\.\.\.\[truncated \d+ bytes\]$/);
});

test('lone surrogates become U+FFFD', () => {
  expect(attributeOf(encode({ name: 'x', attributes: { a: 'b\ud800c' } }), 'a')).toBe('b\ufffdc');
});

test('cycles, depths and crowds end', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  cycle['both'] = [cycle, cycle];
  let deep: unknown = 'bottom';
  for (let depth = 0; depth < 100; depth += 1) deep = { deep };
  const crowd = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`a${index}`, index]));
  expect(JSON.stringify(encode({ name: 'x', attributes: { cycle, deep } }))).toMatch(
    /\[circular\].*\[too deep\]/,
  );
  expect(encode({ name: 'x', attributes: crowd })).toMatchObject({ droppedAttributesCount: 2000 - 1000 });
});

test('whatever is given becomes a sound record within bounds, or nothing', () => {
  const anything = fc.dictionary(fc.string(), fc.anything({ withBigInt: true, withDate: true, maxDepth: 4 }));
  fc.assert(
    fc.property(anything, fc.string({ unit: 'binary', maxLength: 50 }), (attributes, body) => {
      const event = encode({ name: 'x', body, attributes });
      expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThanOrEqual(maxBytes);
    }),
  );
});

test('the short way writes what the long one does', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('/home/jane/x', 'Bearer abc', 'plain', 'a\ud800', '"'),
  );
  const value = fc.oneof(text, fc.boolean(), fc.double(), fc.integer(), fc.constant(undefined));
  const event = fc.record(
    {
      name: text,
      body: text,
      severityNumber: fc.integer({ min: -1, max: 30 }),
      severityText: text,
      attributes: fc.dictionary(fc.oneof(text, fc.constantFrom('token', 'event.id')), value),
    },
    { requiredKeys: ['name'] },
  );
  const write = (encoder: Encoder, queued: QueuedEvent | undefined) => {
    const into = new ByteWriter();
    return queued && encoder.write(queued, into) ? into.toString() : undefined;
  };
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 4 }), (events) => {
      const [short, long] = [makeEncoder(), makeEncoder()];
      for (const one of events) expect(write(short, short.take(one))).toBe(write(long, long.takeOwn(one)));
    }),
    { numRuns: 200 },
  );
});

test('event ids sort in the order in which they were made, also when the clock goes back', () => {
  const clock = new ManualClock();
  const ids = createEventIds(seededRandom());
  const made: string[] = [];
  for (let index = 0; index < 10_000; index += 1) {
    if (index === 5000) clock.jump(-60_000);
    made.push(ids.next(clock.now()));
  }
  expect([...made].sort()).toEqual(made);
  expect(new Set(made).size).toBe(made.length);
});
