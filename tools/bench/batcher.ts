// What an event costs: `node --expose-gc -C @sallyport/source tools/bench/batcher.ts` (half a minute). Prints Markdown tables.
// Beside OpenTelemetry JS with the same batches of 50, JSON, and a queue in which nothing is dropped; what arrives is counted
// by the service. One of each a round; the median, and the round that was disturbed least: each request waits for two processes
// to get a core, so that on a busy machine the median tells of its neighbours.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { undiciTransport } from '@sallyport/core/client';
import { TelemetryBatcher } from '@sallyport/telemetry';
import { quantile } from './timing.ts';

const count = 20_000;
const rounds = 8;

/** Eight attributes, as a tool that reports what it does has. */
const eventOf = (index: number) => ({
  name: 'tool.called',
  body: 'The tool was called.',
  attributes: {
    'session.id': 'session_01J0000000000000000000',
    'tool.name': 'read_file',
    'tool.duration_ms': index % 1000,
    'tool.ok': index % 7 !== 0,
    'tool.bytes': index * 31,
    'model.name': 'large',
    'host.arch': 'x64',
    ratio: index / 3,
  },
});
const events = Array.from({ length: count }, (_, index) => eventOf(index));

function serveSink(): void {
  let received = 0;
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received += Buffer.concat(chunks).toString().split('"timeUnixNano"').length - 1;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  process.on('message', () => process.send?.({ received }));
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
}

/** One way to report: `emit` queues an event, `flush` resolves when all have arrived. */
interface Client {
  readonly emit: (event: BenchEvent) => void;
  readonly flush: () => Promise<unknown>;
  readonly end: () => Promise<unknown>;
}

type BenchEvent = (typeof events)[number];

function batcherTo(baseUrl: string): Client {
  const transport = undiciTransport();
  const batcher = new TelemetryBatcher({
    baseUrl,
    transport,
    tokens: { token: () => Promise.resolve('token') },
    serviceName: 'bench',
    serviceVersion: '1.0.0',
    env: {},
    installExitHandlers: false,
    queue: { maxEvents: count + 1, maxBytes: 1024 ** 3 },
  });
  return {
    emit: (event) => batcher.emit(event),
    flush: () => batcher.flush(),
    end: async () => {
      await batcher.shutdown(1);
      await transport.close();
    },
  };
}

function openTelemetryTo(baseUrl: string): Client {
  const exporter = new OTLPLogExporter({ url: `${baseUrl}/v1/logs` });
  const queue = { maxQueueSize: count + 1, maxExportBatchSize: 50, scheduledDelayMillis: 1000 };
  const provider = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter, ...queue })] });
  const logger = provider.getLogger('bench');
  return {
    emit: ({ name, body, attributes }) =>
      logger.emit({ eventName: name, severityText: 'info', body, attributes }),
    flush: () => provider.forceFlush(),
    end: () => provider.shutdown(),
  };
}

interface Measured {
  /** Events a second that are queued in a loop that does nothing else. */
  readonly emit: number;
  /** Events a second that arrive, emitted 256 at a time. */
  readonly rate: number;
  /** CPU microseconds of this process for each of those. */
  readonly cpu: number;
  /** Bytes of heap that a queued event takes, besides what its reporter has. */
  readonly heap: number;
}

async function measure(clientTo: (baseUrl: string) => Client, sink: Sink): Promise<Measured> {
  const queueing = clientTo(sink.baseUrl); // nothing leaves before the loop ends
  globalThis.gc?.();
  const heapBefore = process.memoryUsage().heapUsed;
  const start = performance.now();
  for (const event of events) queueing.emit(event);
  const emitMs = performance.now() - start;
  globalThis.gc?.();
  const heap = (process.memoryUsage().heapUsed - heapBefore) / count;
  await queueing.flush();
  await queueing.end();

  const client = clientTo(sink.baseUrl);
  const before = await sink.received();
  const cpuBefore = process.cpuUsage();
  const deliveryStart = performance.now();
  for (const [index, event] of events.entries()) {
    client.emit(event);
    if (index % 256 === 255) await setImmediate();
  }
  await client.flush();
  const ms = performance.now() - deliveryStart;
  const { user, system } = process.cpuUsage(cpuBefore);
  const arrived = (await sink.received()) - before;
  if (arrived !== count) throw new Error(`${arrived} of ${count} arrived.`);
  await client.end();
  return { emit: count / (emitMs / 1000), rate: count / (ms / 1000), cpu: (user + system) / count, heap };
}

interface Sink {
  readonly baseUrl: string;
  readonly received: () => Promise<number>;
  readonly end: () => void;
}

async function startSink(): Promise<Sink> {
  const child = fork(import.meta.filename, ['sink'], { execArgv: process.execArgv });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    async received() {
      child.send('received');
      const [{ received }] = (await once(child, 'message')) as [{ received: number }];
      return received;
    },
    end: () => void child.kill(),
  };
}

const thousands = (value: number) => `${Math.round(value / 1000)}k`;

const ways = [
  { name: 'batcher', clientTo: batcherTo },
  { name: 'OpenTelemetry JS', clientTo: openTelemetryTo },
];

async function main(): Promise<void> {
  const sink = await startSink();
  const measured = ways.map((): Measured[] => []);
  for (let round = 0; round <= rounds; round++)
    for (const [index, { clientTo }] of ways.entries()) {
      const one = await measure(clientTo, sink);
      if (round > 0) measured[index]?.push(one);
    }
  sink.end();
  console.log(
    '| Way | Round | Queued a second | Delivered a second | CPU us an event | Heap bytes an event |',
  );
  console.log('|---|---|---|---|---|---|');
  for (const [index, { name }] of ways.entries())
    for (const [round, share] of [
      ['median', 0.5],
      ['best', 1],
    ] as const) {
      const sampleOf = (key: keyof Measured) => (measured[index] ?? []).map((one) => one[key]);
      const [emit, rate] = [quantile(sampleOf('emit'), share), quantile(sampleOf('rate'), share)];
      const [cpu, heap] = [quantile(sampleOf('cpu'), 1 - share), quantile(sampleOf('heap'), 0.5)];
      const cells = [thousands(emit), thousands(rate), cpu.toFixed(1), heap.toFixed(0)];
      console.log(`| ${[name, round, ...cells].join(' | ')} |`);
    }
}

if (process.argv[2] === 'sink') serveSink();
else await main();
