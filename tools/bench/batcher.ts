// What an event costs: `node -C @sallyport/source tools/bench/batcher.ts` (about a minute). Prints Markdown tables.
// Emitting is measured beside the bare work, one `JSON.stringify` of the same record, and beside OpenTelemetry JS with the
// same batches and a queue in which nothing is dropped.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { undiciTransport } from '@sallyport/core/client';
import { TelemetryBatcher } from '@sallyport/telemetry';
import { median } from './timing.ts';

const count = 100_000;
const rounds = 5;

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

function batcherTo(baseUrl: string, transport: ReturnType<typeof undiciTransport>): TelemetryBatcher {
  return new TelemetryBatcher({
    baseUrl,
    transport,
    tokens: { token: () => Promise.resolve('token') },
    serviceName: 'bench',
    serviceVersion: '1.0.0',
    env: {},
    installExitHandlers: false,
    queue: { maxEvents: count + 1, maxBytes: 1024 ** 3 },
  });
}

/** Events a second that are queued in a loop that does nothing else. */
async function emitRate(baseUrl: string): Promise<number> {
  const transport = undiciTransport();
  const batcher = batcherTo(baseUrl, transport);
  const start = performance.now();
  for (const event of events) batcher.emit(event);
  const ms = performance.now() - start;
  await batcher.shutdown(1);
  await transport.close();
  return count / (ms / 1000);
}

/** Events a second that arrive, and CPU microseconds of this process for each, with nothing dropped. */
async function delivery(baseUrl: string): Promise<{ rate: number; cpu: number }> {
  const transport = undiciTransport();
  const batcher = batcherTo(baseUrl, transport);
  const cpu = process.cpuUsage();
  const start = performance.now();
  for (const [index, event] of events.entries()) {
    batcher.emit(event);
    if (index % 256 === 255) await setImmediate();
  }
  const { waiting } = await batcher.flush();
  const { sent } = batcher.stats();
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  if (sent !== count || waiting > 0) throw new Error(`${sent} of ${count} were sent.`);
  await batcher.shutdown();
  await transport.close();
  return { rate: count / (ms / 1000), cpu: (user + system) / count };
}

function providerTo(baseUrl: string): LoggerProvider {
  const exporter = new OTLPLogExporter({ url: `${baseUrl}/v1/logs` });
  const queue = { maxQueueSize: count + 1, maxExportBatchSize: 50, scheduledDelayMillis: 1000 };
  return new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter, ...queue })] });
}

/** What `emitRate` and `delivery` measure, of OpenTelemetry JS. */
async function otel(baseUrl: string): Promise<{ emit: number; rate: number; cpu: number }> {
  const provider = providerTo(baseUrl);
  const logger = provider.getLogger('bench');
  const cpu = process.cpuUsage();
  const start = performance.now();
  for (const { name, body, attributes } of events)
    logger.emit({ eventName: name, severityText: 'info', body, attributes });
  const emitted = performance.now() - start;
  await provider.forceFlush();
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  await provider.shutdown();
  return { emit: count / (emitted / 1000), rate: count / (ms / 1000), cpu: (user + system) / count };
}

/** The same record, written once: what no batcher can be faster than by much. */
function bareRate(): number {
  let bytes = 0;
  const start = performance.now();
  for (const { name, body, attributes } of events) {
    bytes += JSON.stringify({
      timeUnixNano: '1700000000000000001',
      severityNumber: 9,
      body: { stringValue: body },
      attributes: [
        { key: 'event.name', value: { stringValue: name } },
        ...Object.entries(attributes).map(([key, value]) => ({ key, value: { stringValue: String(value) } })),
      ],
    }).length;
  }
  return bytes > 0 ? count / ((performance.now() - start) / 1000) : 0;
}

const thousands = (value: number) => `${Math.round(value / 1000)}k`;

async function main(): Promise<void> {
  const sink = fork(import.meta.filename, ['sink'], { execArgv: process.execArgv });
  const [{ port }] = (await once(sink, 'message')) as [{ port: number }];
  const baseUrl = `http://127.0.0.1:${port}`;
  const samples = { bare: [] as number[], emit: [] as number[], rate: [] as number[], cpu: [] as number[] };
  const others: { emit: number; rate: number; cpu: number }[] = [];
  for (let round = 0; round <= rounds; round++) {
    const bare = bareRate();
    const emit = await emitRate(baseUrl);
    const { rate, cpu } = await delivery(baseUrl);
    const other = await otel(baseUrl);
    if (round === 0) continue;
    others.push(other);
    samples.bare.push(bare);
    samples.emit.push(emit);
    samples.rate.push(rate);
    samples.cpu.push(cpu);
  }
  console.log('| Way | Queued a second | Delivered a second | CPU microseconds an event |');
  console.log('|---|---|---|---|');
  console.log(`| one JSON.stringify | ${thousands(median(samples.bare))} | | |`);
  const row = (name: string, emit: number[], rate: number[], cpu: number[]) =>
    console.log(
      `| ${name} | ${thousands(median(emit))} | ${thousands(median(rate))} | ${median(cpu).toFixed(1)} |`,
    );
  row('batcher, 50 a request', samples.emit, samples.rate, samples.cpu);
  row(
    'OpenTelemetry JS, 50 a request',
    others.map(({ emit }) => emit),
    others.map(({ rate }) => rate),
    others.map(({ cpu }) => cpu),
  );
  sink.kill();
}

if (process.argv[2] === 'sink') serveSink();
else await main();
