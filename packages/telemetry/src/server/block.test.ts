import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeLogsRequest, type LogsRequest } from '../testing/otlp-encoder.ts';
import { drawsOf, randomLogsRequest } from '../testing/otlp-random.ts';
import { packGroups } from './block-groups.ts';
import { mayHold } from './block-search.ts';
import { countsOf, mayHave } from './block-summary.ts';
import { decodeBlock, takeRequest } from './block.ts';
import { decodeLogs } from './logs-body.ts';
import type { RecordGroup } from './logs-request.ts';
import type { RecordFilter, WrittenBlock } from './ports.ts';
import { isMeant } from './record-filter.ts';

const receivedAt = 1_700_000_000_123;

/** Every other time with a record in the middle that is refused. */
function requestOf(seed: number): LogsRequest {
  const request = randomLogsRequest(seed);
  const draw = drawsOf(seed);
  for (const { scopeLogs } of request.resourceLogs)
    for (const { logRecords } of scopeLogs)
      if (draw(2) === 0)
        logRecords.splice(draw(logRecords.length + 1), 0, { spanId: 'ab', severityNumber: 1 });
  return request;
}

const bodyOf = (request: LogsRequest, encoding: 'json' | 'protobuf') => ({
  encoding,
  bytes: encoding === 'json' ? Buffer.from(JSON.stringify(request)) : encodeLogsRequest(request),
});

/** Each record with what it is of. */
const flat = (groups: readonly RecordGroup[]) =>
  groups.flatMap(({ records, ...origin }) => records.map((record) => ({ ...record, ...origin })));
const readBack = (blocks: readonly WrittenBlock[]) =>
  blocks.flatMap((block) => {
    const head = { ...block, lastId: block.records, accountId: 'account', receivedAt, skewMs: null };
    const records = flat(decodeBlock(head, structuredClone(block.content)).groups);
    expect(records).toHaveLength(block.records);
    return records;
  });

test.each(['json', 'protobuf'] as const)(
  'what is read back from blocks is what judging gave: as it came in %s, and in the form of its own',
  (encoding) => {
    const forms = { [encoding]: 0, groups: 0 };
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const body = bodyOf(requestOf(seed), encoding);
        const judged = decodeLogs(body, receivedAt);
        if (judged.accepted === 0) return;
        const { blocks } = takeRequest(body, receivedAt);
        for (const { form } of blocks) forms[form] = (forms[form] ?? 0) + 1;
        expect(blocks[0]?.form).toBe(judged.rejected === 0 ? encoding : 'groups');
        expect(readBack(blocks)).toEqual(flat(judged.groups));
        expect(readBack(packGroups(judged.groups))).toEqual(flat(judged.groups));
      }),
      { numRuns: 500 },
    );
    for (const count of Object.values(forms)) expect(count).toBeGreaterThan(50);
  },
);

function judgedOf(count: number, text: string, each: (index: number) => number = () => 0) {
  const resourceLogs = Array.from({ length: 3 }, (_, service) => ({
    resource: { attributes: [{ key: 'service.name', value: { stringValue: `s${service}` } }] },
    scopeLogs: [
      {
        logRecords: Array.from({ length: count / 3 }, (_of, index) => ({
          severityNumber: each(index),
          body: { stringValue: text },
        })),
      },
    ],
  }));
  const body = bodyOf({ resourceLogs }, 'json');
  return { body, judged: decodeLogs(body, receivedAt) };
}

test.each([
  ['many records', 6000, 'x'],
  ['long records', 60, 'x'.repeat(60_000)],
])('a request of %s becomes several blocks, none of them too large for a reader', (_name, count, text) => {
  const { body, judged } = judgedOf(count, text);
  const { blocks } = takeRequest(body, receivedAt);
  expect(blocks.length).toBeGreaterThan(3);
  for (const { form, records, content } of blocks) {
    expect(form).toBe('groups');
    expect(records).toBeLessThanOrEqual(1024);
    expect(content.byteLength).toBeLessThan(1024 * 1024);
  }
  expect(readBack(blocks)).toEqual(flat(judged.groups));
});

test.each(['json', 'protobuf'] as const)(
  'a request in %s is not kept as it came where its bytes do not tell what it is to decode',
  (encoding) => {
    const formsOf = (request: object) =>
      takeRequest(bodyOf(request as LogsRequest, encoding), receivedAt).blocks.map(({ form }) => form);
    const oneOf = (valuesEach: number, rest = {}) => {
      const body = { arrayValue: { values: Array.from({ length: valuesEach }, () => ({})) } };
      const logRecords = Array.from({ length: 1000 }, () => ({ body, ...rest }));
      return { resourceLogs: [{ scopeLogs: [{ logRecords }] }] };
    };
    expect(formsOf(oneOf(60))).toEqual([encoding]);
    expect(new Set(formsOf(oneOf(150)))).toEqual(new Set(['groups']));
    // Not plain, for a text that is long.
    const rest = { severityText: 'x'.repeat(17_000) };
    expect(formsOf({ resourceLogs: [{ scopeLogs: [{ logRecords: [rest] }] }] })).toEqual([encoding]);
    const five = Array.from({ length: 5 }, () => rest);
    expect(formsOf({ resourceLogs: [{ scopeLogs: [{ logRecords: five }] }] })).toEqual(['groups']);
  },
);

test('a scope that is as large as may be is there once, and counts', () => {
  const scope = { name: 'x'.repeat(60_000) };
  const scopeLogs = Array.from({ length: 100 }, () => ({ scope, logRecords: [{}, { spanId: 'refused' }] }));
  const body = bodyOf({ resourceLogs: [{ scopeLogs }] }, 'json');
  const judged = decodeLogs(body, receivedAt);
  const { blocks } = takeRequest(body, receivedAt);
  for (const { content } of blocks) expect(content.byteLength).toBeLessThan(1024 * 1024);
  expect(readBack(blocks)).toEqual(flat(judged.groups));
});

test('a summary rules out no block that has what is meant, and counts as a look at each record would', () => {
  let known = 0;
  let ruledOut = 0;
  fc.assert(
    fc.property(fc.integer(), fc.nat(24), (seed, minSeverity) => {
      const body = bodyOf(randomLogsRequest(seed), 'json');
      const judged = decodeLogs(body, receivedAt);
      const records = judged.groups.flatMap((group) => group.records.map((record) => ({ record, group })));
      const [block] = takeRequest(body, receivedAt).blocks;
      const one = records[Math.abs(seed) % records.length];
      if (!block || !one) return;
      const { timeUnixNano, eventName } = one.record;
      const filters: Omit<RecordFilter, 'organizationId'>[] = [
        { minSeverity },
        { serviceName: one.group.serviceName, minSeverity },
        { serviceName: 'nobody' },
        { fromTime: timeUnixNano, toTime: String(BigInt(timeUnixNano) + 1n) },
        { fromTime: String(BigInt(timeUnixNano) + 1n) },
        { toTime: timeUnixNano },
        { eventName: eventName ?? 'x', minSeverity },
        { text: 'a', minSeverity },
      ];
      for (const asked of filters) {
        const filter = { organizationId: 'o', ...asked };
        const meant = records.filter(({ record, group }) => isMeant(record, group, filter));
        if (!mayHave(block.summary, filter)) {
          ruledOut += 1;
          expect(meant).toEqual([]);
        }
        const counts = countsOf(block.summary, filter);
        if (counts === undefined) continue;
        known += 1;
        expect(counts.reduce((sum, [, , count]) => sum + count, 0)).toBe(meant.length);
      }
    }),
    { numRuns: 500 },
  );
  expect(known).toBeGreaterThan(500);
  expect(ruledOut).toBeGreaterThan(500);
});

/** Written as other JSON writers may: escapes, capital letters, numbers of another form. */
const written: Readonly<Record<string, (json: string) => string>> = {
  'as it is': (json) => json,
  'with escapes': (json) => json.replaceAll('l', '\\u006c').replaceAll('/', '\\/'),
  'with ids in capital letters': (json) => json.replaceAll('abcdef', 'ABCDEF'),
};

test.each(['json', 'protobuf', 'groups'] as const)(
  'what a look at the bytes rules out is not there: %s',
  (form) => {
    const words = [
      '/Home/x',
      'Kelvin \u212a',
      '\u0130nt',
      '\u00e4rger',
      'say "x"',
      '503',
      'true',
      'NaN',
      '1e3',
      'a_b-c',
      'tall',
    ];
    const values = [
      ...words.map((stringValue) => ({ stringValue })),
      { intValue: '1503' },
      { doubleValue: 1000 },
      { doubleValue: 'NaN' },
      { boolValue: true },
      { arrayValue: { values: [{ stringValue: 'In a list' }] } },
      { bytesValue: 'bGlzdA==' },
    ];
    const traceId = 'abcdef'.padEnd(32, '0');
    const attributes = [...words, '1503', '1000', 'nobody'].flatMap((value) =>
      [true, false].map((exact) => ({ key: 'path', value, exact })),
    );
    const texts = [
      ...words,
      'kelvin k',
      'in',
      'LIST',
      'list',
      'nobody',
      '50',
      'e',
      '\ufffd',
      'i\u0307nt',
      'x"',
    ];
    const filters: Partial<RecordFilter>[] = [
      { traceId },
      { traceId: 'f'.repeat(32) },
      ...attributes.map((match) => ({ attributes: [match] })),
      ...texts.map((text) => ({ text })),
    ];
    let ruledOut = 0;
    for (const [how, write] of Object.entries(written))
      for (const value of values) {
        const request = {
          resourceLogs: [
            { scopeLogs: [{ logRecords: [{ traceId, attributes: [{ key: 'path', value }] }] }] },
          ],
        };
        const json = { encoding: 'json', bytes: Buffer.from(write(JSON.stringify(request))) } as const;
        const { groups } = decodeLogs(json, receivedAt);
        const content =
          form === 'json'
            ? json.bytes
            : form === 'protobuf'
              ? encodeLogsRequest(request)
              : packGroups(groups)[0]!.content;
        for (const filter of filters.map((of) => ({ organizationId: 'o', ...of }))) {
          const [group] = groups;
          const isThere = isMeant(group!.records[0]!, group!, filter);
          const mayBeThere = mayHold(form, content, filter);
          if (!mayBeThere) ruledOut += 1;
          if (isThere) expect([how, value, filter, mayBeThere]).toEqual([how, value, filter, true]);
        }
      }
    expect(ruledOut).toBeGreaterThan(300);
  },
);

test('a summary stays short, whatever a request has', () => {
  const resourceLogs = Array.from({ length: 500 }, (_, index) => ({
    resource: {
      attributes: [{ key: 'service.name', value: { stringValue: `${index}`.padStart(128, 'x') } }],
    },
    scopeLogs: [{ logRecords: [{ eventName: `${index}`.repeat(100) }] }],
  }));
  const body = bodyOf({ resourceLogs }, 'json');
  const [block] = takeRequest(body, receivedAt).blocks;
  expect(block?.summary.length).toBeLessThan(200);
  const filter = { organizationId: 'o', serviceName: '7', eventName: '7' };
  expect([mayHave(block?.summary ?? '', filter), countsOf(block?.summary ?? '', filter)]).toEqual([
    true,
    undefined,
  ]);
});
