import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createLocalWakeups, silentLog, systemRandom } from '@sallyport/core';
import { undiciTransport } from '@sallyport/core/client';
import { ManualClock } from '@sallyport/core/testing';
import { createExporter, createTelemetryEngine, type ExportConfig } from '@sallyport/telemetry/server';
import { createRecordReads, randomLogsRequest } from '@sallyport/telemetry/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openEmbeddedStore } from '../../src/store/embedded/store.ts';
import { lossyLine } from '../lossy-line.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { serveTelemetry } from './serve-telemetry.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly names: string[];
}
type Answer = (received: Received, response: ServerResponse) => void;
const take: Answer = (_received, response) =>
  response.setHeader('content-type', 'application/json').end('{}');
const status =
  (code: number, headers = {}): Answer =>
  (_received, response) =>
    response.writeHead(code, headers).end('no');

/** An endpoint that says what the test wants, and takes everything once that is said. */
async function startEndpoint(...script: Answer[]) {
  const requests: Received[] = [];
  const server = createServer((request, response) => {
    void request.toArray().then(
      (chunks) => {
        const body = Buffer.concat(chunks as Buffer[]);
        const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
        const names = [...text.toString().matchAll(/"body":\{"stringValue":"(\w+)"/g)].map(
          ([, name]) => name ?? '',
        );
        requests.push({ headers: request.headers, names });
        (script.shift() ?? take)(requests.at(-1)!, response);
      },
      () => undefined, // whoever asked hung up amid it
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { requests, script, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/logs` };
}

const sender = { accountId: 'account', organizationId: 'organization' };

async function openStore(path = join(scratchDirectory(), 'store.db')) {
  const store = await openEmbeddedStore({ path });
  onTestFinished(() => store.close());
  const wakeups = createLocalWakeups();
  const clock = new ManualClock();
  const engine = createTelemetryEngine({
    store: store.telemetry,
    organizations: { isZeroDataRetention: async () => false },
    wakeups,
    clock,
    log: silentLog,
  });
  const send = (...names: string[]) =>
    engine.ingestBatch(
      sender,
      names.map((name) => ({ body: { stringValue: name } })),
      { serviceName: 'shop' },
    );
  function startExport(url: string, config: Partial<ExportConfig> = {}) {
    const transport = undiciTransport();
    const exporter = createExporter({
      store: store.telemetry,
      transport,
      wakeups,
      clock,
      random: systemRandom,
      log: silentLog,
      config: {
        url,
        headers: { 'x-key': 'secret' },
        encoding: 'json',
        compression: 'gzip',
        maxRecords: 512,
        timeoutSeconds: 10,
        ...config,
      },
    });
    exporter.start();
    onTestFinished(async () => {
      await exporter.stop();
      await transport.close();
    });
    return exporter;
  }
  return { store, clock, engine, send, startExport, head: () => store.telemetry.recordHead() };
}

test.each(['json', 'protobuf'] as const)(
  'another gateway gets every record as it was, in %s',
  async (encoding) => {
    const { engine, store, startExport, head } = await openStore();
    const other = await serveTelemetry();
    for (let seed = 0; seed < 40; seed++)
      await engine.ingestLogs(sender, {
        encoding: 'json',
        bytes: Buffer.from(JSON.stringify(randomLogsRequest(seed))),
      });
    startExport(`${other.url}/v1/logs`, { encoding, headers: { authorization: 'Bearer access' } });
    const { lastId } = await head();
    await vi.waitUntil(async () => (await head()).exportedTo === lastId);
    const { records } = await createRecordReads(store.telemetry).recordsAfter({
      after: 0,
      maxScanned: 1000,
      maxBytes: 2 ** 30,
    });
    const own = ['service.name', 'sallyport.organization.id', 'sallyport.account.id'];
    const comparable = ({
      resource,
      serviceName: _of,
      id: _id,
      receivedAt: _at,
      ...record
    }: (typeof records)[number]) => ({
      ...record,
      bytes: 0,
      resource: {
        attributes: [],
        droppedAttributesCount: 0,
        schemaUrl: '',
        ...resource,
        ...(resource && { attributes: resource.attributes.filter(({ key }) => !own.includes(key)) }),
      },
    });
    const arrived = (await other.stored()).map((record) => comparable({ ...record, bytes: 0 }));
    expect(arrived.length).toBeGreaterThan(50);
    expect(arrived).toEqual(records.map(comparable));
  },
);

test('what comes is sent at once, in order, with the headers; the resource tells whose it is', async () => {
  const endpoint = await startEndpoint();
  const { send, startExport, head } = await openStore();
  await send('a', 'b');
  const exporter = startExport(endpoint.url);
  await vi.waitUntil(async () => (await head()).exportedTo === 2);
  await send('c');
  await vi.waitUntil(async () => (await head()).exportedTo === 3);
  expect(endpoint.requests.map(({ names }) => names)).toEqual([['a', 'b'], ['c']]);
  expect(endpoint.requests[0]?.headers).toMatchObject({
    'x-key': 'secret',
    'content-type': 'application/json',
    'content-encoding': 'gzip',
  });
  expect(exporter.stats()).toEqual({
    requests: 2,
    exported: 3,
    rejected: 0,
    refused: 0,
    retries: 0,
    failing: undefined,
  });
});

test('a failing endpoint is tried again, after what it asks for, and nothing overtakes', async () => {
  const endpoint = await startEndpoint(
    status(503, { 'retry-after': '60' }),
    status(500),
    (_received, response) => response.destroy(),
    status(429),
  );
  const { send, clock, startExport, head } = await openStore();
  await send('a');
  const exporter = startExport(endpoint.url);
  await vi.waitUntil(() => exporter.stats().retries === 1);
  await send('b');
  expect(exporter.stats().failing).toBe('it answers with 503');
  await clock.advance(59_999);
  expect(exporter.stats().requests).toBe(1);
  for (let retries = 2; retries <= 5; retries++) {
    await clock.advance(60_000);
    await vi.waitUntil(() => exporter.stats().retries >= Math.min(retries, 4));
  }
  await vi.waitUntil(async () => (await head()).exportedTo === 2);
  expect(endpoint.requests.map(({ names }) => names.join())).toEqual(['a', 'a', 'a', 'a', 'a', 'b']);
  expect(exporter.stats()).toMatchObject({ exported: 2, failing: undefined });
});

test('where answers are lost on the way, another gateway stores every record once', async () => {
  const other = await serveTelemetry();
  await using line = await lossyLine(other.url);
  const { send, clock, startExport, head } = await openStore();
  const exporter = startExport(`${line.url}/v1/logs`, {
    headers: { authorization: 'Bearer access' },
    maxRecords: 2,
  });
  // What is alike in every byte, but is stored twice here, is twice there.
  for (const names of [['a', 'b'], ['c'], ['c']]) await send(...names);
  while ((await head()).exportedTo < 4) {
    const { retries } = exporter.stats();
    await vi.waitUntil(async () => exporter.stats().retries > retries || (await head()).exportedTo === 4);
    await clock.advance(60_000);
  }
  expect(line.lost()).toBeGreaterThan(1);
  const bodies = (await other.stored()).map(({ body }) => body);
  expect(bodies).toEqual(['a', 'b', 'c', 'c'].map((stringValue) => ({ stringValue })));
});

test.each([
  ['begins and never ends', 200],
  ['drips in for ever', 200],
  ['fails, and drips in for ever', 500],
] as const)(
  'an answer that %s holds up nothing beyond the time that an answer may take',
  async (how, code) => {
    const endpoint = await startEndpoint((_received, response) => {
      response.writeHead(code).write('{');
      if (!how.includes('drips')) return;
      const drip = setInterval(() => response.write(' '), 5);
      response.once('close', () => clearInterval(drip));
    });
    const { send, clock, startExport, head } = await openStore();
    await send('a');
    const exporter = startExport(endpoint.url);
    await vi.waitUntil(() => endpoint.requests.length === 1);
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(10_000);
    if (code === 500) {
      await vi.waitUntil(() => exporter.stats().retries === 1);
      await clock.advance(60_000);
    }
    await vi.waitUntil(async () => (await head()).exportedTo === 1);
    await send('b');
    await vi.waitUntil(async () => (await head()).exportedTo === 2);
    expect(exporter.stats().exported).toBe(2);
  },
);

/** A request is counted as soon as it is due: one that must not be made is seen at once. */
const atOnce = { compression: 'none' } as const;

test('wrong settings hold everything back, a request a minute, until they are right', async () => {
  const endpoint = await startEndpoint(status(401), status(404));
  const { send, clock, startExport, head } = await openStore();
  await send('a');
  const exporter = startExport(endpoint.url, atOnce);
  await vi.waitUntil(() => exporter.stats().retries === 1);
  await clock.advance(59_999);
  expect(exporter.stats().requests).toBe(1);
  await clock.advance(1);
  await vi.waitUntil(() => exporter.stats().retries === 2);
  await clock.advance(60_000);
  await vi.waitUntil(async () => (await head()).exportedTo === 1);
  expect(exporter.stats()).toMatchObject({ exported: 1, refused: 0 });
});

test('what an endpoint asks for is waited for a quarter of an hour at most', async () => {
  const endpoint = await startEndpoint(status(503, { 'retry-after': '86400' }));
  const { send, clock, startExport, head } = await openStore();
  await send('a');
  const exporter = startExport(endpoint.url, atOnce);
  await vi.waitUntil(() => exporter.stats().retries === 1);
  await clock.advance(15 * 60_000 - 1);
  expect(exporter.stats().requests).toBe(1);
  await clock.advance(1);
  await vi.waitUntil(async () => (await head()).exportedTo === 1);
});

test('a record that is refused is found by halving, left out and counted; the others arrive', async () => {
  const poison: Answer = (received, response) =>
    received.names.includes('bad') ? status(400)(received, response) : take(received, response);
  const endpoint = await startEndpoint(...Array.from({ length: 20 }, () => poison));
  const { send, startExport, head } = await openStore();
  await send('a', 'b', 'bad', 'c', 'd', 'e');
  const exporter = startExport(endpoint.url);
  await vi.waitUntil(async () => (await head()).exportedTo === 6);
  const taken = endpoint.requests.filter(({ names }) => !names.includes('bad')).flatMap(({ names }) => names);
  expect(taken).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(exporter.stats()).toMatchObject({ exported: 5, refused: 1 });
});

test('an endpoint that refuses everything does not empty the queue: a record a minute', async () => {
  const endpoint = await startEndpoint(...Array.from({ length: 100 }, () => status(400)));
  const { send, clock, startExport } = await openStore();
  await send(...Array.from({ length: 20 }, (_, index) => `r${index}`));
  const exporter = startExport(endpoint.url, { maxRecords: 1 });
  await vi.waitUntil(() => endpoint.requests.length === 6);
  await clock.advance(59_999);
  expect(exporter.stats().refused).toBe(5);
  await clock.advance(1);
  await vi.waitUntil(() => exporter.stats().refused === 6);
});

test('a success may leave records out', async () => {
  const partly: Answer = (_received, response) =>
    response.end(JSON.stringify({ partialSuccess: { rejectedLogRecords: '2', errorMessage: 'x' } }));
  const endpoint = await startEndpoint(partly, (_received, response) => response.end('not JSON'));
  const { send, startExport, head } = await openStore();
  await send('a', 'b', 'c');
  const exporter = startExport(endpoint.url);
  await vi.waitUntil(async () => (await head()).exportedTo === 3);
  await send('d');
  await vi.waitUntil(async () => (await head()).exportedTo === 4);
  expect(exporter.stats()).toMatchObject({ exported: 2, rejected: 2, refused: 0 });
});

test('a gateway that ends amid a request sends it again at the next start, and goes on from there', async () => {
  const path = join(scratchDirectory(), 'store.db');
  const endpoint = await startEndpoint(take, () => undefined);
  const first = await openStore(path);
  await first.send('a');
  const exporter = first.startExport(endpoint.url);
  await vi.waitUntil(async () => (await first.head()).exportedTo === 1);
  await first.send('b'); // is received, and never answered
  await vi.waitUntil(() => endpoint.requests.length === 2);
  await exporter.stop();
  await first.store.close();
  const second = await openStore(path);
  await second.send('c');
  second.startExport(endpoint.url);
  await vi.waitUntil(async () => (await second.head()).exportedTo === 3);
  expect(endpoint.requests.map(({ names }) => names.join())).toEqual(['a', 'b', 'b,c']);
});
