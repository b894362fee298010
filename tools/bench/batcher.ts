// What an event costs: `node --expose-gc -C @sallyport/source tools/bench/batcher.ts [events] [rounds]` (100,000 and 5: two
// minutes). Prints a Markdown table.
//
// Beside OpenTelemetry JS with the same events, batches of 50, JSON, no compression, one request on its way, and a kept
// connection; what arrives is counted by one sink in a process of its own, and all of it must. CPU time is that of this process,
// all its threads included, so not the sink's. Events are made as they are reported, with numbers and a text of their own.
// Delivered twice: all at once, which needs queues that hold them, and 2,000 at a time, which the queues of both hold by default.
// One of each way a round; the median, and the round that was disturbed least: each request waits for two processes to get a
// core, so that on a busy machine the median tells of its neighbours.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { http1Transport } from '@sallyport/core/client';
import { TelemetryBatcher } from '@sallyport/telemetry';
import { quantile } from './timing.ts';

const count = Number(process.argv[2] ?? 100_000);
const rounds = Number(process.argv[3] ?? 5);
const atATime = 2_000;

const tools = ['read_file', 'edit_file', 'run_command', 'search_text', 'list_directory'];

/** Each read from an answer, as a model's are. */
const callIds = JSON.parse(
  JSON.stringify(Array.from({ length: count }, (_, index) => `call_${index.toString(36).padStart(20, '0')}`)),
) as readonly string[];

/** Eight attributes, as a tool that reports what it does has. */
const eventOf = (index: number) => ({
  name: 'tool.called',
  body: 'The tool was called.',
  attributes: {
    'session.id': 'session_01J0000000000000000000',
    'tool.name': tools[index % tools.length],
    'tool.call_id': callIds[index],
    'tool.duration_ms': index % 1000,
    'tool.ok': index % 7 !== 0,
    'tool.bytes': index * 31,
    'model.name': 'large',
    ratio: index / 3,
  },
});

type BenchEvent = ReturnType<typeof eventOf>;

function serveSink(): void {
  let received = 0;
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      received += Buffer.concat(chunks).toString('latin1').split('"timeUnixNano"').length - 1;
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

function batcherTo(baseUrl: string): Client {
  const transport = http1Transport();
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
  /** Bytes of heap that a queued event takes, besides what its reporter has. */
  readonly heap: number;
  /** Events a second that arrive, and CPU microseconds of this process for each: all at once, and part by part. */
  readonly rate: number;
  readonly cpu: number;
  readonly partRate: number;
  readonly partCpu: number;
}

async function measure(clientTo: (baseUrl: string) => Client, sink: Sink): Promise<Measured> {
  const queueing = clientTo(sink.baseUrl); // nothing leaves before the loop ends
  globalThis.gc?.();
  const heapBefore = process.memoryUsage().heapUsed;
  const start = performance.now();
  for (let index = 0; index < count; index += 1) queueing.emit(eventOf(index));
  const emitMs = performance.now() - start;
  globalThis.gc?.();
  const heap = (process.memoryUsage().heapUsed - heapBefore) / count;
  await queueing.flush();
  await queueing.end();
  const whole = await deliver(clientTo, sink, count);
  const parts = await deliver(clientTo, sink, atATime);
  const emit = count / (emitMs / 1000);
  return { emit, heap, ...whole, partRate: parts.rate, partCpu: parts.cpu };
}

/**
 * A program keeps its client. With one that is collected by force between the rounds, V8 drops the code that it compiled for it.
 */
const kept: Client[] = [];

/** Emits all events, and waits after each `part` of them until they have arrived. */
async function deliver(clientTo: (baseUrl: string) => Client, sink: Sink, part: number) {
  const client = clientTo(sink.baseUrl);
  kept.push(client);
  const before = await sink.received();
  globalThis.gc?.();
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  for (let index = 0; index < count; index += 1) {
    client.emit(eventOf(index));
    if (index % part === part - 1) await client.flush();
    else if (index % 256 === 255) await setImmediate();
  }
  await client.flush();
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuBefore);
  const arrived = (await sink.received()) - before;
  if (arrived !== count) throw new Error(`${arrived} of ${count} arrived.`);
  await client.end();
  return { rate: count / (ms / 1000), cpu: (user + system) / count };
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
  const perClient = 'Delivered a second | CPU us an event';
  console.log(
    `| Way | Round | Queued a second | ${perClient} | By 2,000: ${perClient} | Heap bytes an event |`,
  );
  console.log(`|${'---|'.repeat(8)}`);
  for (const [index, { name }] of ways.entries())
    for (const [round, share] of [
      ['median', 0.5],
      ['best', 1],
    ] as const) {
      const of = (key: keyof Measured, at: number = share) =>
        quantile(
          (measured[index] ?? []).map((one) => one[key]),
          at,
        );
      const cells = [
        thousands(of('emit')),
        thousands(of('rate')),
        of('cpu', 1 - share).toFixed(1),
        thousands(of('partRate')),
        of('partCpu', 1 - share).toFixed(1),
        of('heap', 0.5).toFixed(0),
      ];
      console.log(`| ${[name, round, ...cells].join(' | ')} |`);
    }
}

if (process.argv.at(-1) === 'sink') serveSink();
else await main();
