import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { contract, type TelemetryRecord } from '@sallyport/core/contract';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openWorld, type World } from '../rights/world.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { codeBlocks, runProgram, withValues } from './examples.ts';

const [
  reporting = '',
  otel = '',
  pino = '',
  standard = '',
  feedback = '',
  storing = '',
  reading = '',
  sending = '',
  ...more
] = codeBlocks('telemetry');

let world: World;
beforeAll(async () => void (world = await openWorld()));
afterAll(() => world.close());

/** What the text around the examples says was made before. */
const made = () => `
  const baseUrl = '${world.url}';
  const transport = (await import('@sallyport/core/client')).http1Transport();
  const tokens = { token: async () => process.env['SALLYPORT_TOKEN'] ?? '' };
  const spoolDir = '${scratchDirectory()}';
`;

async function runs(program: string): Promise<string> {
  const env = { SALLYPORT_TOKEN: world.person('holder').accessToken };
  const { code, stdout, stderr } = await runProgram(program, env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

const stored = (query: string) =>
  world.given<TelemetryRecord[]>(contract.telemetry.query, world.person('holder').accessToken, { query });

test('there is a run of each example', () => {
  expect(more).toEqual([]);
});

test('what a program reports is stored', async () => {
  const values = {
    'http://127.0.0.1:8787': world.url,
    '/home/me/.local/state/sallyport/telemetry': scratchDirectory(),
  };
  await runs(withValues(reporting, values));
  expect(await stored('?service=agent_cli')).toMatchObject([{ record: { eventName: 'session.started' } }]);
});

test.each([
  ['OpenTelemetry', otel, 'cart.opened'],
  ['pino', pino, 'log'],
])('so is what it logs with %s', async (_, program, eventName) => {
  await runs(made() + program);
  const [latest] = await stored('?service=shop');
  expect(latest).toMatchObject({ record: { eventName, body: { stringValue: 'cart opened' } } });
});

test('so is what an exporter of OpenTelemetry sends that knows the environment alone', async () => {
  const exported = withValues(standard, { 'http://127.0.0.1:8787': world.url });
  const key = `sallyport() { echo "$*" >&2; echo '${world.person('holder').accessToken}'; }`;
  const { stdout, stderr } = spawnSync('sh', ['-c', `${key}\n${exported}\nenv`], { encoding: 'utf8' });
  expect(stderr).toBe('keys create --name shop\n');
  const env = Object.fromEntries(
    [...stdout.matchAll(/^(OTEL_\w+)=(.*)$/gm)].map(([, name = '', value = '']): [string, string] => [
      name,
      value,
    ]),
  );
  const program = `
    import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
    import { LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
    const processor = new SimpleLogRecordProcessor({ exporter: new OTLPLogExporter() });
    const provider = new LoggerProvider({ processors: [processor] });
    provider.getLogger('shop').emit({ eventName: 'till.opened' });
    await provider.shutdown();
  `;
  expect(await runProgram(program, env)).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(await stored('?event_name=till.opened')).toHaveLength(1);
});

test('a bundle is made, shown and sent', async () => {
  const folder = scratchDirectory();
  writeFileSync(join(folder, 'agent.log'), 'token=hunter2\n');
  const values = { '/var/log': folder, '/home/me/.local/state/shop': folder };
  const stdout = await runs(made() + withValues(feedback, values));
  expect(stdout).toMatch(/name: 'logs\/agent\.log',\n[^]*redacted_lines: 1,/);
  expect(stdout).toMatch(/^Sent as fb_\w+$/m);
});

test('the engine stores, reads and sends on', async () => {
  const collector = createServer((request, response) => {
    request.resume();
    if (request.method === 'POST') {
      response.setHeader('content-type', 'application/x-protobuf').end();
      collector.emit('taken');
    }
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void collector.close());
  const taken = once(collector, 'taken');
  // How the program learns that it may end.
  collector.on('request', ({ method }, response) => {
    if (method === 'GET') void taken.then(() => response.end());
  });
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  const end = `
    await engine.ingestBatch(sender, [{ body: { stringValue: 'live' } }], { serviceName: 'cart' });
    for await (const { record } of live) {
      console.log(JSON.stringify([records.length, next === undefined, total, buckets.length, record.body]));
      break;
    }
    await fetch('http://127.0.0.1:${port}');
    await exporter.stop();
    process.exit();
  `;
  const program =
    withValues(storing, { '/var/lib/shop': scratchDirectory() }) +
    reading +
    withValues(sending, { 'http://collector:4318': `http://127.0.0.1:${port}` }) +
    end;
  expect(JSON.parse(await runs(program))).toEqual([2, true, 2, 60, { stringValue: 'live' }]);
});
