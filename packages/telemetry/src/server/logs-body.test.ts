import { maxBodyValues, ServiceError } from '@sallyport/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bytes,
  encodeLogsRequest,
  encodeRecord,
  encodeValue,
  fixed32,
  fixed64,
  group,
  text,
  varint,
  type LogsRequest,
  type OtlpRecord,
} from '../testing/otlp-encoder.ts';
import { densePlaces, denseRequest } from '../testing/otlp-dense.ts';
import { randomLogsRequest } from '../testing/otlp-random.ts';
import { decodeLogs } from './logs-body.ts';
import { logsAnswerProtobuf, statusProtobuf } from './otlp-answer.ts';

const receivedAt = 1_700_000_000_123;
const fromJson = (body: unknown) =>
  decodeLogs(
    { encoding: 'json', bytes: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) },
    receivedAt,
  );
const fromProtobuf = (body: Uint8Array) => decodeLogs({ encoding: 'protobuf', bytes: body }, receivedAt);

const requestOf = (...logRecords: OtlpRecord[]): LogsRequest => ({
  resourceLogs: [{ scopeLogs: [{ logRecords }] }],
});
/** A request around the bytes of one record. */
const around = (record: Uint8Array) => bytes(1, bytes(2, bytes(2, record)));
const recordsOf = (judged: ReturnType<typeof decodeLogs>) => judged.groups.flatMap(({ records }) => records);
const refusalOf = (decode: () => unknown): ServiceError => {
  try {
    decode();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('was not refused');
};

test('JSON and protobuf give the same records', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const request = randomLogsRequest(seed);
      const judged = fromJson(request);
      expect(judged.rejected).toBe(0);
      expect(fromProtobuf(encodeLogsRequest(request))).toEqual(judged);
    }),
    { numRuns: 1000 },
  );
});

test("the specification's own example", () => {
  const example = {
    resourceLogs: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'my.service' } }] },
        scopeLogs: [
          {
            scope: {
              name: 'my.library',
              version: '1.0.0',
              attributes: [{ key: 'my.scope.attribute', value: { stringValue: 'some scope attribute' } }],
            },
            logRecords: [
              {
                timeUnixNano: '1544712660300000000',
                observedTimeUnixNano: '1544712660300000000',
                severityNumber: 10,
                severityText: 'Information',
                traceId: '5B8EFFF798038103D269B633813FC60C',
                spanId: 'EEE19B7EC3C1B174',
                body: { stringValue: 'Example log record' },
                attributes: [
                  { key: 'int.attribute', value: { intValue: '10' } },
                  { key: 'double.attribute', value: { doubleValue: 637.704 } },
                ],
              },
            ],
          },
        ],
      },
    ],
  };
  const judged = fromJson(example);
  expect(judged).toMatchObject({
    accepted: 1,
    rejected: 0,
    message: '',
    groups: [
      {
        serviceName: 'my.service',
        resource: { attributes: [{ key: 'service.name' }], droppedAttributesCount: 0, schemaUrl: '' },
        scope: { name: 'my.library', version: '1.0.0' },
        records: [{ severityNumber: 10, traceId: '5b8efff798038103d269b633813fc60c' }],
      },
    ],
  });
  expect(fromProtobuf(encodeLogsRequest(example))).toEqual(judged);
});

describe('what is empty or unknown', () => {
  test.each([{}, { resourceLogs: [] }, { resourceLogs: null }, { resourceLogs: [{ scopeLogs: null }] }])(
    '%j',
    (body) => {
      expect(fromJson(body)).toEqual({ groups: [], accepted: 0, rejected: 0, message: '' });
    },
  );

  test('a request of no bytes is an empty one, in protobuf', () => {
    expect(fromProtobuf(Buffer.alloc(0))).toMatchObject({ accepted: 0, rejected: 0, message: '' });
    expect(refusalOf(() => fromJson(''))).toMatchObject({ code: 'invalid_otlp', status: 400 });
  });

  test('a body without resourceLogs is answered with what it has instead', () => {
    expect(fromJson({ resource_logs: [], '<b>': 1 })).toMatchObject({
      rejected: 0,
      message: 'no resourceLogs; unknown fields: resource_logs',
    });
  });

  test('unknown fields of every wire type are passed over, and known numbers with another one', () => {
    const noise = Buffer.concat([
      varint(90, 2n ** 64n - 1n),
      fixed64(91, 1n),
      bytes(92, Buffer.from('xx')),
      fixed32(93, 7),
      group(94, varint(1, 1), group(5, text(1, 'deep'))),
      text(1, 'a time is no text'),
    ]);
    const record = encodeRecord({ severityText: 'x' });
    const body = Buffer.concat([
      noise,
      bytes(1, bytes(2, bytes(2, Buffer.concat([noise, record, noise])))),
      fixed32(1, 1),
    ]);
    // The text in field 1 of the request itself would be a ResourceLogs.
    const clean = Buffer.concat([
      group(94),
      bytes(1, bytes(2, bytes(2, Buffer.concat([noise, record, noise])))),
    ]);
    expect(recordsOf(fromProtobuf(clean))).toMatchObject([
      { severityText: 'x', timeUnixNano: '1700000000123000000' },
    ]);
    expect(refusalOf(() => fromProtobuf(body)).code).toBe('invalid_otlp');
  });
});

describe('protobuf', () => {
  test('the last of a oneof stands, lists go on, messages merge', () => {
    const value = (...parts: Buffer[]) => recordsOf(fromProtobuf(around(Buffer.concat(parts))))[0]?.body;
    const string = bytes(5, encodeValue({ stringValue: 'a' }));
    const int = bytes(5, encodeValue({ intValue: '1' }));
    const list = bytes(5, encodeValue({ arrayValue: { values: [{ intValue: '1' }] } }));
    expect(value(string, int)).toEqual({ intValue: '1' });
    expect(value(int, string)).toEqual({ stringValue: 'a' });
    expect(value(string, bytes(5, Buffer.alloc(0)))).toEqual({ stringValue: 'a' });
    expect(value(list, list)).toEqual({ arrayValue: { values: [{ intValue: '1' }, { intValue: '1' }] } });
    const resource = (key: string) => bytes(1, bytes(1, Buffer.concat([text(1, key)])));
    const merged = bytes(
      1,
      Buffer.concat([resource('a'), resource('b'), bytes(2, bytes(2, Buffer.alloc(0)))]),
    );
    expect(fromProtobuf(merged).groups[0]?.resource?.attributes.map(({ key }) => key)).toEqual(['a', 'b']);
  });

  test('a negative int32 of ten bytes and an int64 at its ends', () => {
    expect(fromProtobuf(around(varint(2, -1n)))).toMatchObject({ accepted: 0, rejected: 1 });
    for (const intValue of ['9223372036854775807', '-9223372036854775808', '9007199254740993', '-1'])
      expect(recordsOf(fromProtobuf(around(bytes(5, encodeValue({ intValue })))))[0]?.body).toEqual({
        intValue,
      });
  });

  test.each([
    ['breaks off in a number', Buffer.from([0x80])],
    ['breaks off in a length', Buffer.from([0x0a, 0x05, 0x00])],
    ['a number of eleven bytes', Buffer.from([0x08, ...Array<number>(10).fill(0xff), 0x01])],
    ['the field number 0', Buffer.from([0x00, 0x00])],
    ['the wire type 6', Buffer.from([0x0e])],
    ['a group without an end', Buffer.from([0x0b])],
    ['an end without a group', Buffer.from([0x0c])],
    ['groups too deep', Buffer.alloc(200, 0x0b)],
    ['an inner message that is longer than the outer', bytes(1, Buffer.from([0x12, 0x7f]))],
  ])('%s is no protobuf', (_name, body) => {
    expect(refusalOf(() => fromProtobuf(body))).toMatchObject({ code: 'invalid_otlp', status: 400 });
  });
});

describe('JSON', () => {
  const int = (number: string) =>
    `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"intValue":${number}}}]}]}]}`;

  test.each([
    ['9007199254740993', '9007199254740993'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['9007199254740993.0', '9007199254740993'],
    ['1e18', '1000000000000000000'],
    ['9.223372036854775807E+18', '9223372036854775807'],
    ['12', '12'],
  ])('the number %s is exact', (number, digits) => {
    expect(recordsOf(fromJson(int(number)))[0]?.body).toEqual({ intValue: digits });
  });

  test.each(['9223372036854775808', '1.5', '9007199254740993.5', '"x"', 'true', '1e400'])(
    '%s is no int64',
    (number) => {
      const refusal = refusalOf(() => fromJson(int(number)));
      expect(refusal).toMatchObject({ code: 'invalid_otlp', status: 400 });
      expect(refusal.issues).toMatchObject([
        { path: 'resourceLogs/0/scopeLogs/0/logRecords/0/body/intValue' },
      ]);
    },
  );

  test('times as numbers are exact, too, and doubles stay doubles', () => {
    const [record] = recordsOf(
      fromJson(
        '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":1700000000000000001,"body":{"doubleValue":12345678901234567890}}]}]}]}',
      ),
    );
    expect(record).toMatchObject({
      timeUnixNano: '1700000000000000001',
      body: { doubleValue: 12345678901234567890 },
    });
  });

  test.each([
    ['[]', 'body'],
    ['1', 'body'],
    ['{"resourceLogs":{}}', 'resourceLogs'],
    ['{"resourceLogs":[1]}', 'resourceLogs/0'],
    ['{"resourceLogs":[{"resource":[],"scopeLogs":[]}]}', 'resourceLogs/0/resource'],
    ['{"resourceLogs":[{"scopeLogs":[{"scope":{"name":1}}]}]}', 'resourceLogs/0/scopeLogs/0/scope/name'],
    ['{"resourceLogs":[{"scopeLogs":[{"logRecords":[null]}]}]}', 'resourceLogs/0/scopeLogs/0/logRecords/0'],
  ])('%s is no request', (body, path) => {
    expect(refusalOf(() => fromJson(body)).issues[0]?.path).toBe(path);
  });

  test.each(['{', '{"a":}', 'null x', '['.repeat(100_000)])('%#: no JSON', (body) => {
    const refusal = refusalOf(() => fromJson(body));
    expect(refusal).toMatchObject({ code: 'invalid_otlp', status: 400 });
    expect(refusal.message).not.toContain('null x');
  });

  test('nesting without an end is a refusal, also where digits are kept', () => {
    const nested = (depth: number, inner = '1') =>
      `{"x":${inner},"y":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    expect(fromJson(nested(255)).message).toContain('unknown fields: x, y');
    for (const body of [nested(256), nested(200_000), nested(200_000, '9007199254740993')])
      expect(refusalOf(() => fromJson(body)).code).toBe('invalid_otlp');
  });

  test('lone surrogates and bytes that are no UTF-8 become U+FFFD', () => {
    const body = Buffer.concat([
      Buffer.from('{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"severityText":"a\\ud800","eventName":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}]}]}]}'),
    ]);
    const [record] = recordsOf(decodeLogs({ encoding: 'json', bytes: body }, receivedAt));
    expect(record).toMatchObject({ severityText: 'a\ufffd', eventName: '\ufffd\ufffd' });
    const [other] = recordsOf(fromProtobuf(around(bytes(3, Buffer.from([0x61, 0xff, 0xfe])))));
    expect(other?.severityText).toBe('a\ufffd\ufffd');
  });
});

describe('a record that breaks a rule is left out, and the others are taken', () => {
  const nest = (depth: number): object =>
    depth === 1 ? { intValue: '1' } : { arrayValue: { values: [nest(depth - 1)] } };
  test.each<[string, OtlpRecord]>([
    ['a trace id of 15 bytes', { traceId: 'ab'.repeat(15) }],
    ['a span id of 16 bytes', { spanId: 'ab'.repeat(16) }],
    ['a severity of 25', { severityNumber: 25 }],
    ['an empty key', { attributes: [{ key: '', value: {} }] }],
    ['1,025 attributes', { attributes: Array.from({ length: 1025 }, () => ({ key: 'a' })) }],
    ['257 KiB', { body: { stringValue: 'x'.repeat(257 * 1024) } }],
    ['33 values deep', { body: nest(33) }],
    ['60 values deep', { attributes: [{ key: 'a', value: nest(60) }] }],
  ])('%s', (_name, bad) => {
    const request = requestOf({ severityText: 'first' }, bad, { severityText: 'last' });
    const judged = fromJson(request);
    expect(judged).toMatchObject({ accepted: 2, rejected: 1 });
    expect(judged.message).toMatch(
      /^1 of 3 records were not stored: resourceLogs\/0\/scopeLogs\/0\/logRecords\/1/,
    );
    expect(recordsOf(judged).map(({ severityText }) => severityText)).toEqual(['first', 'last']);
    expect(fromProtobuf(encodeLogsRequest(request))).toEqual(judged);
  });

  test('a base64 id is one', () => {
    expect(fromJson(requestOf({ traceId: 'W47/95gDgQPSabYzgT/GDA==' }))).toMatchObject({
      rejected: 1,
      accepted: 0,
    });
  });

  test('a resource that breaks one takes its records with it', () => {
    const [good] = requestOf({}).resourceLogs;
    const bad = { ...good!, resource: { attributes: [{ key: '' }] } };
    expect(fromJson({ resourceLogs: [good, bad] })).toMatchObject({ accepted: 1, rejected: 1 });
    const large = {
      ...good!,
      resource: { attributes: [{ key: 'a', value: { stringValue: 'x'.repeat(65_536) } }] },
    };
    expect(fromJson({ resourceLogs: [large] })).toMatchObject({ accepted: 0, rejected: 1 });
  });

  test.each(['name', 'version', 'schemaUrl'])('so does a scope whose %s is larger than 64 KiB', (member) => {
    const text = 'x'.repeat(65_536);
    const bad = member === 'schemaUrl' ? { schemaUrl: text } : { scope: { [member]: text } };
    const request = { resourceLogs: [{ scopeLogs: [bad, {}].map((of) => ({ ...of, logRecords: [{}] })) }] };
    expect(fromJson(request)).toMatchObject({ accepted: 1, rejected: 1 });
  });

  test('however many there are, the answer stays small', () => {
    const { rejected, message } = fromJson(
      requestOf(...Array.from({ length: 5000 }, () => ({ spanId: 'ab' }))),
    );
    expect(rejected).toBe(5000);
    expect(message.length).toBeLessThan(1000);
  });

  test.each(['json', 'protobuf'] as const)('more than 65,536 records are too many: %s', (encoding) => {
    expect(decodeLogs(denseRequest(encoding, 'logRecords', 65_535), receivedAt).accepted).toBe(65_536);
    const more = denseRequest(encoding, 'logRecords', 65_536);
    expect(refusalOf(() => decodeLogs(more, receivedAt)).status).toBe(413);
  });

  test.each(['resourceLogs', 'scopeLogs'] as const)(
    'more than two origins for each of them, too: %s',
    (place) => {
      for (const encoding of ['json', 'protobuf'] as const) {
        const more = denseRequest(encoding, place, 131_072);
        expect(refusalOf(() => decodeLogs(more, receivedAt)).message).toContain('resources and scopes');
      }
    },
  );

  test.each(densePlaces)('a million of nothing is refused before anything is made of it: %s', (place) => {
    for (const encoding of ['json', 'protobuf'] as const) {
      const body = denseRequest(encoding, place, maxBodyValues);
      const { status, message } = refusalOf(() => decodeLogs(body, receivedAt));
      expect([status, message]).toEqual([413, expect.stringContaining('values')]);
    }
  });

  test.each([
    ['the request', '%'],
    ['a record', '"resourceLogs":[{"scopeLogs":[{"logRecords":[{%}]}]}]'],
    ['what nobody knows', '"unknown":[{%}]'],
  ])('so are names without an end: %s', (_, place) => {
    const members = Array.from({ length: 120_000 }, (__, index) => `"unknown${index}":0`).join();
    const { status, message } = refusalOf(() => fromJson(`{${place.replace('%', members)}}`));
    expect([status, message]).toEqual([413, expect.stringContaining('names')]);
  });
});

test('the answers in protobuf', () => {
  expect(logsAnswerProtobuf({ rejected: 0, message: '' })).toHaveLength(0);
  expect(logsAnswerProtobuf({ rejected: 300, message: 'no' })).toEqual(
    bytes(1, Buffer.concat([varint(1, 300), text(2, 'no')])),
  );
  expect(statusProtobuf(3, 'ä')).toEqual(Buffer.concat([varint(1, 3), text(2, 'ä')]));
});
