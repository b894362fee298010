// How fast records are stored durably: `node -C @sallyport/source tools/bench/ingest.ts` (about a minute). Prints a table.
// Each request of 512 records is decoded, judged and committed to the disk before the next of its lane. Beside it, in the same
// rounds, what the fastest library of each encoding takes for decoding alone: nothing judged, nothing kept. Storing has two
// threads, decoding alone has one: the processor time of a record, of all threads, says what the wall cannot on a busy machine.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalWakeups, silentLog, systemClock } from '@sallyport/core';
import { createTelemetryEngine } from '@sallyport/telemetry/server';
import { openEmbeddedStore } from '../../packages/gateway/src/store/embedded/store.ts';
import { encodeLogsRequest, type LogsRequest } from '../../packages/telemetry/src/testing/otlp-encoder.ts';
import { referenceDecoder } from '../../packages/telemetry/test/reference.ts';
import { median } from './timing.ts';

const recordsOfRequest = 512;
const requests = Number(process.argv[2] ?? 200);
const rounds = 5;
const lanes = 8;

/** Eight attributes, as a tool that reports what it does has. */
function requestOf(round: number): LogsRequest {
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const logRecords = Array.from({ length: recordsOfRequest }, (_, index) => ({
    timeUnixNano: String(1_767_225_600_123_456_789n + BigInt(round * recordsOfRequest + index)),
    severityNumber: 9,
    severityText: 'INFO',
    body: { stringValue: 'The tool was called.' },
    attributes: [
      text('event.name', 'tool.called'),
      text('session.id', 'session_01J0000000000000000000'),
      text('tool.name', 'read_file'),
      { key: 'tool.duration_ms', value: { intValue: String(index % 1000) } },
      { key: 'tool.ok', value: { boolValue: index % 7 !== 0 } },
      { key: 'tool.bytes', value: { intValue: String(index * 31) } },
      text('model.name', 'large'),
      { key: 'ratio', value: { doubleValue: index / 3 } },
    ],
  }));
  const resource = { attributes: [text('service.name', 'bench'), text('os.type', 'linux')] };
  return { resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] };
}

const forms = Array.from({ length: requests }, (_, round) => requestOf(round));
const bodies = {
  json: forms.map((form) => Buffer.from(JSON.stringify(form))),
  protobuf: forms.map(encodeLogsRequest),
};
const sender = { accountId: 'account', organizationId: 'organization' };

interface Figures {
  readonly perSecond: number;
  /** Microseconds of a record, of all threads. */
  readonly cpu: number;
}

async function measure(act: () => Promise<void>): Promise<Figures> {
  const before = process.cpuUsage();
  const from = performance.now();
  await act();
  const seconds = (performance.now() - from) / 1000;
  const { user, system } = process.cpuUsage(before);
  const records = requests * recordsOfRequest;
  return { perSecond: records / seconds, cpu: (user + system) / records };
}

async function stored(encoding: 'json' | 'protobuf'): Promise<Figures> {
  const directory = mkdtempSync(join(process.env['SALLYPORT_BENCH_DIR'] ?? tmpdir(), 'sallyport-bench-'));
  const store = await openEmbeddedStore({ path: join(directory, 'store.db') });
  const engine = createTelemetryEngine({
    store: store.telemetry,
    organizations: { isZeroDataRetention: () => Promise.resolve(false) },
    wakeups: createLocalWakeups(),
    clock: systemClock,
    log: silentLog,
  });
  const waiting = [...bodies[encoding]];
  const lane = async () => {
    for (let bytes; (bytes = waiting.shift());) await engine.ingestLogs(sender, { encoding, bytes });
  };
  const figures = await measure(async () => {
    await Promise.all(Array.from({ length: lanes }, lane));
  });
  await store.close();
  rmSync(directory, { recursive: true });
  return figures;
}

const decoded = (decode: (bytes: Buffer) => unknown, of: readonly Buffer[]) =>
  measure(async () => {
    for (const bytes of of) decode(bytes);
  });

const ways: Readonly<Record<string, () => Promise<Figures>>> = {
  'JSON, `JSON.parse` alone': () => decoded((bytes) => JSON.parse(bytes.toString()), bodies.json),
  'JSON, stored': () => stored('json'),
  'protobuf, protobufjs decodes alone': () => decoded(referenceDecoder(), bodies.protobuf),
  'protobuf, stored': () => stored('protobuf'),
};
const samples = new Map<string, Figures[]>(Object.keys(ways).map((name) => [name, []]));
for (let round = 0; round <= rounds; round++)
  for (const [name, once] of Object.entries(ways)) {
    const figures = await once();
    if (round > 0) samples.get(name)?.push(figures); // the first is not counted
  }

console.log(`Node.js ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}\n`);
console.log('| Way | Records/s | Lowest to highest | Beside decoding alone | CPU µs a record |');
console.log('|---|---|---|---|---|');
const whole = (value: number) => Math.round(value).toLocaleString('en');
let alone = NaN;
for (const [name, sample] of samples) {
  const speeds = sample.map(({ perSecond }) => perSecond);
  const middle = median(speeds);
  if (name.endsWith('alone')) alone = middle;
  const range = `${whole(Math.min(...speeds))} to ${whole(Math.max(...speeds))}`;
  const cpu = median(sample.map((figures) => figures.cpu)).toFixed(1);
  console.log(`| ${[name, whole(middle), range, (middle / alone).toFixed(2), cpu].join(' | ')} |`);
}
