import { createClient, pages, undiciTransport } from '@sallyport/core/client';
import { contract, type TelemetryRecord, type TelemetryStats } from '@sallyport/core/contract';
import { ManualClock } from '@sallyport/core/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testAuthenticator } from '../serve.ts';
import { serveTelemetry, type ServedTelemetry } from './serve-telemetry.ts';

const start = Date.parse('2026-01-01T00:00:00Z');

interface Sent {
  readonly body?: string;
  readonly severityNumber?: number;
  readonly traceId?: string;
  readonly timeUnixNano?: string;
  readonly attributes?: readonly { readonly key: string; readonly value: object }[];
}

async function serveReading(config = {}, authenticator = testAuthenticator) {
  const clock = new ManualClock(start);
  const served = await serveTelemetry({ clock, config, authenticator });
  const send = (records: readonly Sent[], service = 'shop') => sendAs(served, 'access', records, service);
  const get = async (path: string, token = 'access') => {
    const answer = await fetch(served.url + path, { headers: { authorization: `Bearer ${token}` } });
    return { answer, body: await answer.json() };
  };
  const records = async (query: string, token?: string) =>
    (await get(`/v1/logs?${query}`, token)).body as TelemetryRecord[];
  const bodies = async (query: string, token?: string) =>
    (await records(query, token)).map(({ record }) => record.body?.stringValue);
  const stats = async (query: string, token?: string) =>
    (await get(`/v1/logs/stats?${query}`, token)).body as TelemetryStats;
  return { ...served, clock, send, get, records, bodies, stats };
}

async function sendAs({ url }: ServedTelemetry, token: string, records: readonly Sent[], service: string) {
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: service } }] };
  const logRecords = records.map(({ body, ...record }) => ({
    ...record,
    ...(body !== undefined && { body: { stringValue: body } }),
  }));
  const answer = await fetch(`${url}/v1/logs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] }),
  });
  expect(await answer.text()).toBe('{}');
}

describe('a query', () => {
  test('finds by time, severity, service, trace, attribute and text; together they narrow', async () => {
    const { send, clock, bodies } = await serveReading();
    const traceId = 'ab'.repeat(16);
    await send([{ body: 'One', severityNumber: 9, traceId }]);
    await clock.advance(1000);
    await send([{ body: 'two KELVIN', severityNumber: 17, timeUnixNano: '999999999999999999' }], 'till');
    await clock.advance(1000);
    const attributes = [
      { key: 'http.status', value: { intValue: '503' } },
      { key: 'path', value: { stringValue: '/a=b "quoted"' } },
      { key: 'list', value: { arrayValue: { values: [{ stringValue: 'Ärger' }] } } },
    ];
    await send([{ body: 'three', severityNumber: 13, attributes, timeUnixNano: '1767225602000000001' }]);

    expect(await bodies('')).toEqual(['three', 'two KELVIN', 'One']);
    expect(await bodies('order=oldest')).toEqual(['One', 'two KELVIN', 'three']);
    expect(await bodies('from=2026-01-01T00:00:01Z')).toEqual(['three', 'two KELVIN']);
    expect(await bodies('to=2026-01-01T00:00:01.000Z')).toEqual(['One']);
    expect(await bodies('from=2026-01-01T01:00:01%2B01:00&to=2026-01-01T00:00:02Z')).toEqual(['two KELVIN']);
    // By the sender's clock, to the nanosecond; digits of another length are other magnitudes.
    expect(await bodies('event_from=2026-01-01T00:00:02.000000001Z')).toEqual(['three']);
    expect(await bodies('event_from=2026-01-01T00:00:02.000000002Z')).toEqual([]);
    expect(await bodies('event_to=2026-01-01T00:00:00Z')).toEqual(['two KELVIN']);
    expect(await bodies('min_severity=warn')).toEqual(['three', 'two KELVIN']);
    expect(await bodies('min_severity=17')).toEqual(['two KELVIN']);
    expect(await bodies('service=till')).toEqual(['two KELVIN']);
    expect(await bodies(`trace_id=${traceId.toUpperCase()}`)).toEqual(['One']);
    expect(await bodies('attribute=http.status=503')).toEqual(['three']);
    expect(await bodies('attribute=http.status=%22503%22')).toEqual([]); // a text it is not
    expect(await bodies(`attribute=path=${encodeURIComponent('/a=b "quoted"')}`)).toEqual(['three']);
    expect(await bodies('attribute=service.name=till')).toEqual(['two KELVIN']); // of the resource
    expect(await bodies('attribute=http.status=503&attribute=path=no')).toEqual([]);
    for (const [text, found] of [
      ['ONE', ['One']],
      ['kelvin', ['two KELVIN']],
      ['ÄRGER', ['three']],
      ['"quoted', ['three']],
      ['50', ['three']],
      ['stringValue', []],
      ['%', []],
      ['_ne', []],
    ] as const)
      expect(await bodies(`text=${encodeURIComponent(text)}`), text).toEqual(found);
    expect(await bodies('min_severity=warn&service=shop&text=three')).toEqual(['three']);
  });

  test('shows a record as OTLP has it, and beside it when and from whom it came', async () => {
    const { send, get, clock } = await serveReading();
    await send([
      { body: 'x', severityNumber: 9, traceId: 'AB'.repeat(16), timeUnixNano: '9007199254740993' },
    ]);
    expect((await get('/v1/logs')).body).toEqual([
      {
        id: 1,
        received_at: new Date(clock.now()).toISOString(),
        account_id: 'account',
        service_name: 'shop',
        record: {
          timeUnixNano: '9007199254740993',
          severityNumber: 9,
          body: { stringValue: 'x' },
          attributes: [],
          traceId: 'ab'.repeat(16),
        },
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] },
      },
    ]);
  });

  test.each(['newest', 'oldest'] as const)(
    'its pages have each record once, %s first, while others come',
    async (order) => {
      const { send, url, clock } = await serveReading();
      for (let index = 0; index < 7; index++) {
        await send([{ body: `a${index}` }, { body: `b${index}` }]);
        if (index % 2 === 0) await clock.advance(1); // several share a millisecond
      }
      const transport = undiciTransport();
      onTestFinished(() => transport.close());
      const options = { baseUrl: url, transport, tokens: { token: async () => 'access' } };
      const seen: number[] = [];
      for await (const { body } of pages(options, contract.telemetry.query, { query: { limit: 4, order } })) {
        seen.push(...body.map(({ id }) => id));
        if (order === 'newest') await send([{ body: 'later' }]);
      }
      const all = Array.from({ length: 14 }, (_, index) => index + 1);
      expect(seen).toEqual(order === 'newest' ? all.reverse() : all);
    },
  );

  test('looks at so many records for a page; the next page goes on, until the one is found', async () => {
    const { send, get } = await serveReading({ maxScannedRecords: 2000 });
    await send([{ body: '"needle"' }]);
    await send(Array.from({ length: 2500 }, () => ({ body: 'hay' })));
    // In quotes it could be written in several ways: it is not to be seen in the bytes that the hay does not have it.
    const first = await get('/v1/logs?text=%22needle%22');
    expect(first.body).toEqual([]);
    const next = /<([^>]+)>; rel="next"/.exec(first.answer.headers.get('link') ?? '')?.[1] ?? '';
    const second = await get(next);
    expect(second.body).toMatchObject([{ id: 1 }]);
    expect(second.answer.headers.get('link')).toBeNull();
  });

  test('that nobody can answer is 400', async () => {
    const { get } = await serveReading();
    for (const query of [
      'offset=nonsense',
      'limit=0',
      'from=yesterday',
      'min_severity=loud',
      'min_severity=25',
      'trace_id=ab',
      'attribute=novalue',
      'order=random',
      'text=',
    ])
      expect((await get(`/v1/logs?${query}`)).answer.status, query).toBe(400);
  });

  test('what a severity and attributes may be is told, and a value may be empty', async () => {
    const { get, send, bodies } = await serveReading();
    const says = async (query: string) => JSON.stringify((await get(`/v1/logs?${query}`)).body);
    expect(await says('min_severity=loud')).toContain(
      'must be trace, debug, info, warn, error, fatal or a number',
    );
    const nine = Array.from({ length: 9 }, (_, index) => `attribute=k${index}=v`).join('&');
    expect(await says(nine)).toContain('must be at most 8, each key=value');
    const attribute = (stringValue: string) => ({ key: 'e', value: { stringValue } });
    await send([
      { body: 'empty', attributes: [attribute('')] },
      { body: 'full', attributes: [attribute('x')] },
    ]);
    expect(await bodies('attribute=e=')).toEqual(['empty']);
  });
});

test('an admin sees what is of the organization, everybody else what is their own; other organizations nobody', async () => {
  const served = await serveReading();
  const { bodies, stats, engine } = served;
  await sendAs(served, 'access', [{ body: "admin's" }], 'shop');
  const bytes = Buffer.from(
    JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: 'x' } }] }] }] }),
  );
  const from = (accountId: string, organizationId: string) =>
    engine.ingestLogs({ accountId, organizationId }, { encoding: 'json', bytes });
  await from('colleague', 'organization');
  await from('account', 'elsewhere');
  expect(await bodies('')).toEqual(['x', "admin's"]);
  expect(await bodies('', 'viewer')).toEqual(["admin's"]);
  expect((await stats('')).total).toBe(2);
  expect((await stats('', 'viewer')).total).toBe(1);
  // Of one account: what of it a reader may see at all.
  expect(await bodies('account_id=COLLEAGUE')).toEqual(['x']);
  expect([await bodies('account_id=account'), (await stats('account_id=account')).total]).toEqual([
    ["admin's"],
    1,
  ]);
  expect(await bodies('account_id=account', 'viewer')).toEqual(["admin's"]);
  expect(await bodies('account_id=colleague', 'viewer')).toEqual([]);
  for (const query of ['account_id=colleague', 'account_id=colleague&from=2026-01-01T00:00:00Z'])
    expect((await stats(query, 'viewer')).total, query).toBe(0);
});

test('stats count by time, severity and service', async () => {
  const { send, clock, get, stats } = await serveReading();
  await send([{ severityNumber: 9 }, { severityNumber: 17 }, {}]);
  await clock.advance(30_000);
  await send([{ severityNumber: 10 }, { severityNumber: 21 }], 'till');
  await clock.advance(30_000);
  const body = await stats('from=2026-01-01T00:00:00Z&buckets=4');
  expect(body).toMatchObject({ total: 5, complete: true, bucket_ms: 15_001 });
  expect(body.buckets.map(({ count, errors }) => [count, errors])).toEqual([
    [3, 1],
    [2, 1],
    [0, 0],
    [0, 0],
  ]);
  expect(body.severities).toEqual([
    { severity: 'fatal', count: 1 },
    { severity: 'error', count: 1 },
    { severity: 'info', count: 2 },
    { severity: 'unspecified', count: 1 },
  ]);
  expect(body.services).toEqual([
    { service: 'shop', count: 3 },
    { service: 'till', count: 2 },
  ]);
  expect((await stats('min_severity=error')).total).toBe(2);
  const backwards = await get('/v1/logs/stats?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z');
  expect(backwards.answer.status).toBe(400);
});

test('stats of too many records to look at count the newest and say so; the others need no look', async () => {
  const { send, stats } = await serveReading({ maxCountedRecords: 2000 });
  await send(Array.from({ length: 2500 }, () => ({ body: 'x' })));
  expect(await stats('text=x')).toMatchObject({ total: 2000, complete: false });
  expect(await stats('')).toMatchObject({ total: 2500, complete: true });
});

describe('a tail', () => {
  test('shows what comes, as it comes, by the same filters; resumes behind the last id', async () => {
    const { send, url } = await serveReading();
    await send([{ body: 'before' }]);
    const first = await open(`${url}/v1/logs/stream?min_severity=info`);
    await send([
      { body: 'quiet', severityNumber: 5 },
      { body: 'loud', severityNumber: 9 },
    ]);
    expect(await first.next()).toMatchObject({ id: '3', record: { body: { stringValue: 'loud' } } });
    await first.close();
    await send([{ body: 'meanwhile', severityNumber: 9 }]);
    const second = await open(`${url}/v1/logs/stream?min_severity=info`, { 'last-event-id': '3' });
    expect(await second.next()).toMatchObject({ id: '4', record: { body: { stringValue: 'meanwhile' } } });
    await send([{ body: 'after', severityNumber: 9 }]);
    expect(await second.next()).toMatchObject({ id: '5' });
    const all = await open(`${url}/v1/logs/stream?from_id=0`);
    expect(await all.next()).toMatchObject({ id: '1' });
  });

  test('ends where who reads is an admin no more, and shows nothing of others from then on', async () => {
    let role: 'admin' | 'member' = 'admin';
    const accessToken = async (token: string) => ({ ...(await testAuthenticator.accessToken(token)), role });
    const { engine, url, clock } = await serveReading({}, { ...testAuthenticator, accessToken });
    const say = (body: string) =>
      engine.ingestBatch(
        { accountId: 'colleague', organizationId: 'organization' },
        [{ body: { stringValue: body } }],
        { serviceName: 'shop' },
      );
    const tail = await open(`${url}/v1/logs/stream`);
    await say('one');
    expect(await tail.next()).toMatchObject({ id: '1' });
    await clock.advance(2000);
    await say('two');
    expect(await tail.next()).toMatchObject({ id: '2' });
    role = 'member';
    await clock.advance(2000);
    await say('three');
    await expect(tail.next()).rejects.toThrow('The stream ended.');
  });

  async function open(url: string, headers: Readonly<Record<string, string>> = {}) {
    const abort = new AbortController();
    onTestFinished(() => abort.abort());
    const answer = await fetch(url, {
      headers: { authorization: 'Bearer access', ...headers },
      signal: abort.signal,
    });
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    return {
      async next() {
        for (;;) {
          const frame = /(?:^|\n\n)id: (\d+)\ndata: (.*)\n\n/.exec(text);
          if (frame) {
            text = text.slice(frame.index + frame[0].length);
            return { ...(JSON.parse(frame[2]!) as TelemetryRecord), id: frame[1] };
          }
          const { value, done } = await reader.read();
          if (done) throw new Error('The stream ended.');
          text += value;
        }
      },
      close: () => reader.cancel(),
    };
  }
});

test('the typed client asks for several attributes', async () => {
  const { send, url } = await serveReading();
  const attribute = (key: string) => ({ key, value: { boolValue: true } });
  await send([{ attributes: [attribute('a')] }, { attributes: [attribute('a'), attribute('b')] }]);
  const transport = undiciTransport();
  onTestFinished(() => transport.close());
  const client = createClient({ baseUrl: url, transport, tokens: { token: async () => 'access' } });
  const found = await client.telemetry.query({ query: { attribute: ['a=true', 'b=true'] } });
  expect(found.map(({ id }) => id)).toEqual([2]);
});
