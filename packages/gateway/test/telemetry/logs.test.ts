import { once } from 'node:events';
import { connect } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import { ServiceError } from '@sallyport/core';
import { contract } from '@sallyport/core/contract';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bytes, encodeLogsRequest, randomLogsRequest, text, varint } from '@sallyport/telemetry/testing';
import { serveTelemetry } from './serve-telemetry.ts';

const json = { 'content-type': 'application/json' };
const protobuf = { 'content-type': 'application/x-protobuf' };
const request = {
  resourceLogs: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] },
      scopeLogs: [{ logRecords: [{ severityText: 'one', body: { intValue: '9007199254740993' } }] }],
    },
  ],
};
const asJson = JSON.stringify(request);
const asProtobuf = encodeLogsRequest(request);
const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());

test('a full success: `{}` in JSON, no bytes in protobuf, and both records are there, alike', async () => {
  const { post, stored } = await serveTelemetry();
  const first = await post(asJson, json);
  expect([first.status, first.headers.get('content-type'), await first.text()]).toEqual([
    200,
    'application/json; charset=utf-8',
    '{}',
  ]);
  const second = await post(asProtobuf, protobuf);
  expect([second.status, second.headers.get('content-type'), (await bytesOf(second)).length]).toEqual([
    200,
    'application/x-protobuf',
    0,
  ]);
  const records = await stored();
  const [one, two] = records.map(({ id: _id, receivedAt: _at, timeUnixNano: _time, ...rest }) => rest);
  expect(one).toMatchObject({ serviceName: 'shop', body: { intValue: '9007199254740993' } });
  expect(two).toEqual(one);
});

test.each([
  ['JSON', json, asJson],
  ['protobuf', protobuf, Buffer.from(asProtobuf)],
] as const)(
  'what comes again under its idempotency key, in %s, is stored once',
  async (_name, type, body) => {
    const { post, stored } = await serveTelemetry();
    const keyed = { ...type, 'idempotency-key': 'k' };
    const zipped = { ...keyed, 'content-encoding': 'gzip' };
    for (const answer of [
      await post(body, keyed),
      await post(body, keyed),
      await post(gzipSync(body), zipped),
    ])
      expect([answer.status, (await answer.text()).replace('{}', '')]).toEqual([200, '']);
    expect(await stored()).toHaveLength(1);
    await post(body, { ...type, 'idempotency-key': 'another' });
    for (const _again of [1, 2]) await post(body, type);
    expect(await stored()).toHaveLength(4);
  },
);

test('an answer of partial success comes again, too; other records under the key of those are refused', async () => {
  const { post, stored } = await serveTelemetry();
  const keyed = { ...json, 'idempotency-key': 'k' };
  const logRecords = [{ traceId: '00' }, { severityNumber: 9 }];
  const partial = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
  const [first, second] = [await post(partial, keyed), await post(partial, keyed)];
  expect(await first.json()).toMatchObject({ partialSuccess: { rejectedLogRecords: '1' } });
  expect(second.status).toBe(200);
  expect(await stored()).toHaveLength(1);
  const other = await post(asJson, keyed);
  expect(other.status).toBe(400);
  expect(await other.json()).toMatchObject({ code: 3, issues: [{ path: 'headers/idempotency-key' }] });
  expect((await post(Buffer.from(asProtobuf), { ...protobuf, 'idempotency-key': 'k' })).status).toBe(400);
  expect(await stored()).toHaveLength(1);
});

test('what goes in through either encoding comes out of the query as it was', async () => {
  const { post, stored } = await serveTelemetry();
  let last: { receivedAt: number; id: number } | undefined;
  const comeOut = async () => {
    const records = await stored(last);
    last = records.at(-1) ?? last;
    return records.map(({ id: _id, receivedAt: _at, ...rest }) => ({
      ...rest,
      // Absent from the record, it is the time at which it came.
      timeUnixNano: rest.timeUnixNano.endsWith('000000') ? 'received' : rest.timeUnixNano,
    }));
  };
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const sent = randomLogsRequest(seed);
      expect((await post(JSON.stringify(sent), json)).status).toBe(200);
      const fromJson = await comeOut();
      expect((await post(encodeLogsRequest(sent), protobuf)).status).toBe(200);
      expect(await comeOut()).toEqual(fromJson);
      expect(fromJson).toHaveLength(
        sent.resourceLogs.flatMap((one) => one.scopeLogs.flatMap((of) => of.logRecords)).length,
      );
    }),
    { numRuns: 40 },
  );
});

describe('a batch takes a record as OTLP does', () => {
  test.each([
    ['a time as a number', '{"timeUnixNano":1790000000123456789}', { timeUnixNano: '1790000000123456789' }],
    [
      'an integer as a number',
      '{"body":{"intValue":9007199254740993}}',
      { body: { intValue: '9007199254740993' } },
    ],
    [
      'the least one',
      '{"body":{"intValue":-9223372036854775808}}',
      { body: { intValue: '-9223372036854775808' } },
    ],
    ['an exponent', '{"timeUnixNano":1.79e18}', { timeUnixNano: '1790000000000000000' }],
    [
      'digits behind a point',
      '{"body":{"intValue":9.007199254740993e15}}',
      { body: { intValue: '9007199254740993' } },
    ],
    ['a large double', '{"body":{"doubleValue":1e300}}', { body: { doubleValue: 1e300 } }],
    [
      'bytes that are no UTF-8',
      '{"body":{"stringValue":"a\xff\xfe"}}',
      { body: { stringValue: 'a\ufffd\ufffd' } },
    ],
    ['a lone surrogate', '{"body":{"stringValue":"a\\ud800"}}', { body: { stringValue: 'a\ufffd' } }],
  ])('%s', async (_name, record, judged) => {
    const { post, stored, url } = await serveTelemetry();
    const bytesIn = (before: string, after: string) => Buffer.from(`${before}${record}${after}`, 'latin1');
    await post(bytesIn('{"resourceLogs":[{"scopeLogs":[{"logRecords":[', ']}]}]}'), json);
    const headers = { authorization: 'Bearer access', 'x-service-name': 'unknown_service', ...json };
    const body = bytesIn('{"events":[', ']}');
    const answer = await fetch(`${url}/api/event_logging/v2/batch`, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toEqual([200, { accepted: 1 }]);
    expect(await stored()).toEqual([expect.objectContaining(judged), expect.objectContaining(judged)]);
  });
});

test('a partial success says how many and why, as an int64', async () => {
  const { post } = await serveTelemetry();
  const bad = { resourceLogs: [{ scopeLogs: [{ logRecords: [{ traceId: 'ab' }, {}] }] }] };
  const errorMessage =
    '1 of 2 records were not stored: resourceLogs/0/scopeLogs/0/logRecords/0/traceId must be 16 bytes in hex';
  expect(await (await post(JSON.stringify(bad), json)).json()).toEqual({
    partialSuccess: { rejectedLogRecords: '1', errorMessage },
  });
  expect(await bytesOf(await post(encodeLogsRequest(bad), protobuf))).toEqual(
    bytes(1, Buffer.concat([varint(1, 1), text(2, errorMessage)])),
  );
});

describe('the content type', () => {
  test.each([
    ['Application/JSON; charset=utf-8', asJson, 200],
    ['application/x-protobuf;v=1', asProtobuf, 200],
    ['application/protobuf', asProtobuf, 200],
    ['text/plain', asJson, 415],
    ['application/json+x', asJson, 415],
  ])('%s', async (type, body, status) => {
    const { post } = await serveTelemetry();
    const answer = await post(body, { 'content-type': type });
    expect(answer.status).toBe(status);
    if (status === 415)
      expect(await answer.json()).toMatchObject({
        error: 'unsupported_media_type',
        code: 3,
        message: 'The content type must be application/json or application/x-protobuf.',
      });
  });

  test('without one, a body is 415', async () => {
    const { url } = await serveTelemetry();
    const answer = await fetch(`${url}/v1/logs`, {
      method: 'POST',
      headers: { authorization: 'Bearer access' },
      body: new Uint8Array(asProtobuf),
    });
    expect(answer.status).toBe(415);
  });
});

describe('the content encoding', () => {
  const members = Buffer.concat([gzipSync(asProtobuf), gzipSync(asProtobuf)]);
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  test.each([
    ['gzip', 'as it is', gzipSync(asProtobuf), 200, 1],
    ['x-gzip', 'as it is', gzipSync(asProtobuf), 200, 1],
    ['deflate', 'as it is', deflateSync(asProtobuf), 200, 1],
    ['identity', 'as it is', asProtobuf, 200, 1],
    ['gzip', 'of two members', members, 200, 2],
    ['br', 'which is not taken', asProtobuf, 415, 0],
    ['gzip, gzip', 'which is not taken', gzipSync(gzipSync(asProtobuf)), 415, 0],
    ['gzip', 'of far more than the limit', bomb, 413, 0],
    ['gzip', 'cut off', gzipSync(asProtobuf).subarray(0, -9), 400, 0],
    ['gzip', 'with junk behind it', Buffer.concat([gzipSync(asProtobuf), Buffer.from('junk')]), 400, 0],
    ['gzip', 'that is none', asProtobuf, 400, 0],
  ])('%s, %s', async (encoding, _what, body, status, count) => {
    const { post, stored } = await serveTelemetry();
    const answer = await post(body, { ...protobuf, 'content-encoding': encoding });
    expect(answer.status).toBe(status);
    if (status === 415) expect(answer.headers.get('accept-encoding')).toBe('gzip, deflate');
    expect(await stored()).toHaveLength(count);
  });
});

describe('errors come in the encoding of the request, as google.rpc.Status', () => {
  test('400', async () => {
    const { post } = await serveTelemetry();
    const answer = await post(Buffer.from([0x80]), protobuf);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/x-protobuf']);
    expect(await bytesOf(answer)).toEqual(
      Buffer.concat([
        varint(1, 3),
        text(2, 'The body is not valid protobuf, though its content type says so.'),
      ]),
    );
    const other = await post('{"secret', json);
    expect(await other.json()).toEqual({
      code: 3,
      message: 'The body is not valid JSON, though its content type says so.',
      error: 'invalid_otlp',
      error_description: 'The body is not valid JSON, though its content type says so.',
      request_id: other.headers.get('request-id'),
    });
  });

  test('401', async () => {
    const { post } = await serveTelemetry();
    const answer = await post(asProtobuf, { ...protobuf, authorization: 'Bearer unknown' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([401, 'application/x-protobuf']);
    expect((await bytesOf(answer)).subarray(0, 2)).toEqual(varint(1, 16));
    expect(answer.headers.get('www-authenticate')).toContain('invalid_token');
  });

  test('503 with Retry-After while the store cannot write, and then nothing is lost by trying again', async () => {
    let isFull = true;
    const { post, engine } = await serveTelemetry({
      store: {
        appendRecords: async () => {
          if (isFull)
            throw new ServiceError('store_unavailable', 'The store is full.', { retryAfterMs: 1500 });
          return { isReplay: false, storedBytes: 0 };
        },
      },
    });
    const busy = await post(asProtobuf, protobuf);
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '2']);
    expect((await bytesOf(busy)).subarray(0, 2)).toEqual(varint(1, 14));
    isFull = false;
    expect((await post(asProtobuf, protobuf)).status).toBe(200);
    expect(engine.stats().stored).toBe(1);
  });
});

test('an organization that keeps no data gets a success, and nothing is kept', async () => {
  const { post, engine, stored } = await serveTelemetry({ zeroRetention: true });
  expect(await (await post(asJson, json)).text()).toBe('{}');
  expect(engine.stats()).toMatchObject({ stored: 0, droppedForZeroRetention: 1 });
  expect(await stored()).toEqual([]);
});

test.each([contract.telemetry.logs, contract.telemetry.batch])(
  'a clock that is hours off is noted at $path, not refused, nor is what tells no time',
  async ({ path }) => {
    const { url, stored } = await serveTelemetry();
    const body = path === contract.telemetry.logs.path ? asJson : JSON.stringify({ events: [{}] });
    const ahead = Date.now() + 2 * 3_600_000;
    for (const sentAt of [String(ahead), new Date(ahead).toISOString(), new Date().toISOString(), 'noon']) {
      const headers = {
        ...json,
        authorization: 'Bearer access',
        'x-service-name': 'agent_test',
        'x-sent-at': sentAt,
      };
      expect((await fetch(url + path, { method: 'POST', headers, body })).status).toBe(200);
    }
    const hoursOff = expect.toSatisfy((skewMs: number) => Math.abs(skewMs - 7_200_000) < 60_000) as unknown;
    expect((await stored()).map(({ skewMs }) => skewMs)).toEqual([hoursOff, hoursOff, null, null]);
  },
);

test('a resource is stored once, however many requests have it', async () => {
  const { post, stored } = await serveTelemetry();
  for (let round = 0; round < 3; round++) await post(asProtobuf, protobuf);
  const records = await stored();
  expect(records.map(({ resource }) => resource?.attributes[0]?.value)).toEqual(
    Array(3).fill({ stringValue: 'shop' }),
  );
});

test('an event batch is of whatever service it says, and of one at least', async () => {
  const { url, stored } = await serveTelemetry();
  const headers = { ...json, authorization: 'Bearer access' };
  const send = (name: Record<string, string>) =>
    fetch(url + contract.telemetry.batch.path, {
      method: 'POST',
      headers: { ...headers, ...name },
      body: JSON.stringify({ events: [{}] }),
    });
  const long = 'a'.repeat(1000);
  expect((await send({ 'x-service-name': long })).status).toBe(200);
  expect((await stored()).map(({ serviceName }) => serviceName)).toEqual([long]);
  expect((await send({ 'x-service-name': '' })).status).toBe(400);
  expect((await send({})).status).toBe(400);
});

test.each(['/v1/logs', '/api/event_logging/v2/batch'])(
  'a body that says that it is too large is refused before a byte of it comes (%s)',
  async (path) => {
    const { port } = await serveTelemetry();
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer access\r\nX-Service-Name: x\r\n`;
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: ${8 * 1024 ** 2 + 1}\r\n\r\n`);
    const [data] = (await once(socket, 'data')) as [Buffer];
    expect(String(data)).toMatch(/^HTTP\/1\.1 413 /);
    expect(String(data)).toMatch(/^connection: close\r$/im);
  },
);

describe.each(['/v1/logs', '/api/event_logging/v2/batch'])('what a body may have, by number (%s)', (path) => {
  test.each([
    ['values', `[${'[],'.repeat(600_000)}0]`],
    ['names', `{${Array.from({ length: 120_000 }, (_, index) => `"unknown${index}":0`).join()}}`],
  ])('%s', async (what, unknown) => {
    const { url } = await serveTelemetry();
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { ...json, authorization: 'Bearer access', 'x-service-name': 'x' },
      body: `{"resourceLogs":[],"events":[],"unknown":${unknown}}`,
    });
    expect([answer.status, await answer.json()]).toEqual([
      413,
      expect.objectContaining({
        error: 'payload_too_large',
        error_description: expect.stringContaining(what) as string,
      }),
    ]);
  });
});
