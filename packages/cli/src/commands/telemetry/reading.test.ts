import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runCli } from '../../testing/cli.ts';
import { environmentAt, startService } from '../../testing/service.ts';

const record = (id: number, more: object = {}) => ({
  id,
  received_at: '2026-01-01T00:00:00.000Z',
  account_id: 'a',
  service_name: 'agent_cli',
  record: {
    timeUnixNano: '1767225600123000000',
    severityNumber: 17,
    body: { stringValue: `body ${id}` },
    attributes: [
      { key: 'event.name', value: { stringValue: 'tool.failed' } },
      { key: 'service.name', value: { stringValue: 'agent_cli' } },
      { key: 'event.id', value: { stringValue: '0b6f7a52' } },
      { key: 'list', value: { arrayValue: { values: [{ intValue: '1' }, { stringValue: 'a' }] } } },
    ],
    eventName: 'tool.failed',
    ...more,
  },
});

/** A gateway that says what the test wants; `undefined`: on the response itself. */
async function serve(answer: (url: URL, response: ServerResponse) => unknown) {
  const cwd = mkdtempSync(join(tmpdir(), 'sallyport-telemetry-'));
  const asked: URL[] = [];
  const service = await startService(({ url: path }, response) => {
    const url = new URL(path, 'http://gateway');
    asked.push(url);
    const body = answer(url, response);
    return body === undefined ? undefined : { body };
  });
  onTestFinished(() => {
    service.close();
    rmSync(cwd, { recursive: true, force: true });
  });
  const env = environmentAt(service);
  return { asked, cwd, env, run: (...args: string[]) => runCli(['telemetry', ...args], { cwd, env }) };
}

const at = '2026-01-01T00:00:00.000Z';
const stats = {
  from: at,
  to: at,
  bucket_ms: 1,
  total: 1003,
  complete: false,
  buckets: [
    { at, count: 1000, errors: 0 },
    { at, count: 0, errors: 0 },
    { at, count: 3, errors: 3 },
  ],
  severities: [{ severity: 'error', count: 3 }],
  services: [{ service: 'agent_cli', count: 1003 }],
};

test('query sends all filters, and shows a line a record, the latest last, without what could steer a terminal', async () => {
  const evil = { body: { stringValue: 'x\u001b[2Jy' }, severityNumber: 9, attributes: [] };
  const { run, asked } = await serve(() => [record(2), record(1, evil)]);
  const trace = '0af7651916cd43dd8448eb211c80319c';
  const account = '9F8D2A40-5b0e-4c55-9d5e-0c2f3f6d1a77';
  const filters = [
    '--severity',
    'warn',
    '--account',
    account,
    '--service',
    's',
    '--event',
    'e',
    '--trace',
    trace,
    '--text',
    'x',
  ];
  const times = ['--since', '2026-01-01T00:00Z', '--until', '2026-01-02'];
  const { stdout, exitCode } = await run(
    'query',
    ...filters,
    ...times,
    '--attribute',
    'a=1',
    '--attribute',
    'b=2',
  );
  expect(exitCode).toBe(0);
  expect(stdout.split('\n')).toEqual([
    '2026-01-01T00:00:00.123Z  INFO   agent_cli  tool.failed  x [2Jy',
    '2026-01-01T00:00:00.123Z  ERROR  agent_cli  tool.failed  body 2  list=["1","a"]',
    '',
  ]);
  expect([...asked[0]!.searchParams]).toEqual([
    ['from', '2026-01-01T00:00:00.000Z'],
    ['to', '2026-01-02T00:00:00.000Z'],
    ['min_severity', 'warn'],
    ['account_id', account.toLowerCase()],
    ['service', 's'],
    ['event_name', 'e'],
    ['trace_id', trace],
    ['attribute', 'a=1'],
    ['attribute', 'b=2'],
    ['text', 'x'],
    ['order', 'newest'],
    ['limit', '51'],
  ]);
});

test('query says whose each record is, where they are of several accounts', async () => {
  const { run } = await serve(() => [{ ...record(2), account_id: 'b' }, record(1)]);
  expect((await run('query')).stdout.split('\n')).toEqual([
    expect.stringContaining('agent_cli  a  tool.failed'),
    expect.stringContaining('agent_cli  b  tool.failed'),
    '',
  ]);
});

test('query --json is one document; a bad option is told before anything is asked', async () => {
  const { run, asked } = await serve(() => [record(1)]);
  expect(JSON.parse((await run('query', '--json', '--oldest')).stdout)).toEqual([record(1)]);
  for (const bad of [
    ['--since', 'yesterday'],
    ['--since', '10m', '--until', '1h'],
    ['--attribute', 'x'],
    ['--account', 'ann@example.com'],
    ['--severity', 'loud'],
  ])
    expect((await run('query', ...bad)).exitCode, bad.join(' ')).toBe(2);
  expect((await run('tail', '--last', '1001')).stderr).toContain('a number from 0 to 1000 is needed');
  expect((await run('stats', '--buckets', '241')).stderr).toContain('a number from 1 to 240 is needed');
  expect(asked).toHaveLength(1);
});

test('query draws how all that match spread, for the eyes alone', async () => {
  const early = { ...record(1), received_at: '2025-12-31T00:00:00.000Z' };
  const { run, asked } = await serve((url, response) => {
    if (url.pathname === '/v1/logs') return [record(2), early];
    if (url.searchParams.get('service') !== 'down') return stats;
    return void response.writeHead(500).end();
  });
  const { stdout, stderr, exitCode } = await run('query', '--text', 'x', '--limit', '2');
  expect(exitCode).toBe(0);
  expect(stdout.trim().split('\n')).toHaveLength(2);
  expect(stderr).toBe(
    `\n1,003 records from ${at} to ${at}\n█ ▁  at most 1,000 in one\n  █  errors, at most 3\n`,
  );
  expect([...asked[1]!.searchParams]).toEqual([
    ['from', '2025-12-31T00:00:00.000Z'],
    ['text', 'x'],
  ]);
  await run('query', '--since', '2026-01-01T00:00Z');
  expect(asked[3]!.searchParams.get('from')).toBe(at);
  expect(await run('query', '--service', 'down')).toMatchObject({ exitCode: 0, stderr: '' });
});

test('stats draws a line of bars', async () => {
  const { run, asked } = await serve(() => stats);
  const { stdout, stderr } = await run('stats', '--buckets', '3');
  expect(stdout).toContain('1,003 records from 2026-01-01T00:00:00.000Z');
  expect(stdout).toContain('█ ▁  at most 1,000 in one\n  █  errors, at most 3');
  expect(stdout).toContain('SERVICE    RECORDS\nagent_cli  1,003');
  expect(stderr).toContain('too many to count');
  expect(asked[0]!.searchParams.get('buckets')).toBe('3');
  expect(asked[0]!.searchParams.get('from')).not.toBeNull(); // the last hour
  expect(JSON.parse((await run('stats', '--json')).stdout)).toEqual(stats);
});

test('tail shows the last ones, then each as it comes; a lost connection goes on behind the last; Ctrl-C ends it', async () => {
  let streams = 0;
  const { cwd, env, asked } = await serve((url, response) => {
    if (url.pathname === '/v1/logs') return [record(6), record(5)];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = (id: number) => `id: ${id}\ndata: ${JSON.stringify(record(id))}\n\n`;
    if (streams++ === 0) response.end(`id: 6\nevent: started\ndata: {"id":6}\n\n${event(7)}`);
    else response.write(event(8));
    return undefined;
  });
  const main = join(import.meta.dirname, '../../main.ts');
  const child = spawn(process.execPath, ['-C', '@sallyport/source', main, 'telemetry', 'tail', '--json'], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: cwd, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stdout = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    stdout += String(chunk);
    if (stdout.includes('body 8') && stdout.endsWith('\n')) break;
  }
  const ids = stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: number }).id);
  expect(ids).toEqual([5, 6, 7, 8]);
  expect(asked.slice(1).map((url) => url.searchParams.get('from_id'))).toEqual(['6', '7']);
  const exit = once(child, 'exit');
  child.kill('SIGINT');
  expect(await exit).toEqual([130, null]);
});
