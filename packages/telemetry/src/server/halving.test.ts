import { expect, test } from 'vitest';
import { halveRecords } from './halving.ts';
import { decodeLogs, type LogsBody } from './logs-body.ts';
import { encodeMessage } from './protobuf-writer.ts';

// A receiver to whom a request is too large gets it in halves.

const encoder = new TextEncoder();
const json = (value: string): LogsBody => ({ encoding: 'json', bytes: encoder.encode(value) });

function bodiesOf(body: LogsBody): unknown[] {
  const { groups } = decodeLogs(body, 0);
  return groups.flatMap(({ serviceName, records }) => records.map((record) => [serviceName, record.body]));
}

/** Down to single records. */
function pieces(body: LogsBody): LogsBody[] {
  const halves = halveRecords(body);
  if (halves === undefined) return [body];
  return halves.flatMap(({ bytes }) => pieces({ encoding: body.encoding, bytes }));
}

test('a batch is halved by its events, and what else is said stays', () => {
  const halves = halveRecords(
    json('{"more":{"n":9007199254740993},"events":[{"a":1e400},{"b":2},{"c":0.10}]}'),
  );
  expect(halves?.map(({ bytes, records }) => [new TextDecoder().decode(bytes), records])).toEqual([
    ['{"more":{"n":9007199254740993},"events":[{"a":1e400},{"b":2}]}', 2],
    ['{"more":{"n":9007199254740993},"events":[{"c":0.10}]}', 1],
  ]);
});

const resource = (name: string, ...scopes: string[][]) => ({
  resource: { attributes: [{ key: 'service.name', value: { stringValue: name } }] },
  scopeLogs: scopes.map((bodies) => ({
    scope: { name: 'scope' },
    logRecords: bodies.map((stringValue) => ({ body: { stringValue } })),
  })),
});
const logs = JSON.stringify({
  resourceLogs: [
    resource('empty', []),
    resource('a', ['1', '2'], ['3']),
    resource('b', ['4', '5', '6', '7']),
  ],
});

const text = (value: string) => encodeMessage([[1, value]]);
const record = (value: string) =>
  encodeMessage([
    [5, text(value)],
    [99, 'unknown'],
  ]);
const resourceLogs = (name: string, ...scopes: string[][]) =>
  encodeMessage([
    [
      1,
      encodeMessage([
        [
          1,
          encodeMessage([
            [1, 'service.name'],
            [2, text(name)],
          ]),
        ],
      ]),
    ],
    ...scopes.map((bodies) => [2, encodeMessage(bodies.map((body) => [2, record(body)] as const))] as const),
    [77, 'unknown'],
  ]);
const protobuf = encodeMessage([
  [1, resourceLogs('empty', [])],
  [1, resourceLogs('a', ['1', '2'], ['3'])],
  [1, resourceLogs('b', ['4', '5', '6', '7'])],
  [88, 'unknown'],
]);

test.each([
  ['json', encoder.encode(logs)],
  ['protobuf', protobuf],
] as const)(
  'a logs request in %s is halved by its records: none is lost, none comes twice, each keeps its origin and place',
  (encoding, bytes) => {
    const whole = { encoding, bytes };
    const expected = bodiesOf(whole);
    expect(expected).toHaveLength(7);
    const [first, second] = halveRecords(whole) ?? [];
    expect([first?.records, second?.records]).toEqual([4, 3]);
    const parts = pieces(whole);
    expect(parts).toHaveLength(7);
    expect(parts.flatMap(bodiesOf)).toEqual(expected);
  },
);

test('fields that nobody knows go along', () => {
  for (const { bytes } of halveRecords({ encoding: 'protobuf', bytes: protobuf }) ?? [])
    expect(Buffer.from(bytes).toString('latin1').split('unknown').length - 1).toBeGreaterThanOrEqual(5);
});

test('one record, none, and what cannot be read are not halved', () => {
  for (const body of [
    json('{"events":[{}]}'),
    json('{"events":[]}'),
    json('{"resourceLogs":7}'),
    json('[{},{}]'),
    json('no JSON'),
    { encoding: 'protobuf', bytes: new Uint8Array([10, 5]) } as const,
    { encoding: 'protobuf', bytes: new Uint8Array() } as const,
  ])
    expect(halveRecords(body)).toBeUndefined();
});
