import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { nobodyId } from '@sallyport/core/contract';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runHere } from '../../testing/cli.ts';
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
      {
        key: 'list',
        value: {
          arrayValue: {
            values: [
              { intValue: '1' },
              { stringValue: 'a' },
              { kvlistValue: { values: [{ key: 'n', value: { intValue: '9007199254740993' } }] } },
            ],
          },
        },
      },
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
  return { asked, cwd, env, run: (...args: string[]) => runHere(['telemetry', ...args], { cwd, env }) };
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
  const account = '9F8D2A40-5b0e-4c55-9d5e-0c2f3f6d1a77';
  const sent = { account_id: account.toLowerCase() };
  const { run, asked } = await serve(() => [
    { ...record(2), ...sent },
    { ...record(1, evil), ...sent },
  ]);
  const trace = '0af7651916cd43dd8448eb211c80319c';
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
    '2026-01-01T00:00:00.123Z  ERROR  agent_cli  tool.failed  body 2  list=[1,"a",{"n":"9007199254740993"}]',
    '',
  ]);
  expect([...asked[0]!.searchParams]).toEqual([
    ['from', '2026-01-01T00:00:00.000Z'],
    ['to', '2026-01-02T00:00:00.000Z'],
    ['min_severity', 'warn'],
    ['service', 's'],
    ['event_name', 'e'],
    ['trace_id', trace],
    ['attribute', 'a=1'],
    ['attribute', 'b=2'],
    ['text', 'x'],
    ['account_id', account.toLowerCase()],
    ['order', 'newest'],
    ['limit', '51'],
  ]);
});

test('query says whose each record is, where they are of several accounts', async () => {
  const { run } = await serve(() => [{ ...record(2), account_id: 'b', account_email: 'bob@x' }, record(1)]);
  expect((await run('query')).stdout.split('\n')).toEqual([
    expect.stringContaining('agent_cli  a  tool.failed'),
    expect.stringContaining('agent_cli  bob@x  tool.failed'),
    '',
  ]);
});

const ofAnn = { account_id: 'ann', account_email: 'ann@example.com' };

test.each([
  ['Ann@example.com', 'account_email', 'Ann@example.com', 'nobody@nowhere.invalid'],
  ['me', 'account_id', 'ann', nobodyId],
])('query and stats ask for what --account %s sent by %s', async (who, name, value, nobody) => {
  const { run, asked } = await serve(({ pathname, searchParams }) => {
    if (pathname === '/api/bootstrap') return { account: { uuid: 'ann', memberships: [] } };
    if (pathname === '/v1/logs') return [{ ...record(1), ...ofAnn }];
    return searchParams.get(name) === nobody ? { ...stats, total: 0 } : stats;
  });
  expect((await run('query', '--account', who)).stdout).toContain('body 1');
  expect((await run('stats', '--account', who)).stdout).toContain('1,003 records');
  const told = asked.filter(({ pathname }) => pathname !== '/api/bootstrap');
  const counted = ['/v1/logs/stats', '/v1/logs/stats'];
  expect(told.map(({ pathname }) => pathname)).toEqual(['/v1/logs', ...counted, ...counted]);
  const values = told.map(({ searchParams }) => searchParams.get(name)).sort();
  expect(values).toEqual([value, value, value, nobody, nobody].sort());
});

describe.each([
  ['ann@example.com', 'the e-mail address of who sent them', /by its id/],
  ['me', 'the account that sent them', /Leave --account out/],
])('where the service does not know the filter, --account %s is refused by', (who, what, next) => {
  test.each([
    ['query'],
    ['query', '--json'],
    ['stats'],
    ['stats', '--json'],
    ['tail'],
    ['tail', '--last', '0'],
  ])('%s, in place of everybody’s', async (...args) => {
    // It does not even tell an address.
    const theirs = record(1);
    const { run } = await serve(({ pathname }, response) => {
      if (pathname === '/api/bootstrap') return { account: { uuid: 'ann', memberships: [] } };
      if (pathname === '/v1/logs')
        return args.length === 1 ? [{ ...theirs, account_id: 'ann' }, theirs] : [theirs];
      if (pathname === '/v1/logs/stats') return stats;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('id: 0\nevent: started\ndata: {"id":0}\n\n');
      response.write(`id: 1\ndata: ${JSON.stringify(theirs)}\n\n`);
      return undefined;
    });
    const { exitCode, stdout, stderr } = await run(...args, '--account', who);
    expect(exitCode).toBe(1);
    expect(stdout).not.toMatch(/body 1|1,?003/);
    expect(stdout + stderr).toContain(`This service does not filter records by ${what}: it is an older one.`);
    expect(stdout + stderr).toMatch(next);
  });
});

test('counts that an older service cannot give of one account are left out below its records', async () => {
  const { run } = await serve(({ pathname }) => {
    if (pathname === '/api/bootstrap') return { account: { uuid: 'ann', memberships: [] } };
    return pathname === '/v1/logs' ? [{ ...record(1), ...ofAnn }] : stats;
  });
  expect(await run('query', '--account', 'me')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('body 1') as string,
    stderr: '',
  });
});

test('query --json is one document; a bad option is told before anything is asked', async () => {
  const { run, asked } = await serve(() => [record(1)]);
  expect(JSON.parse((await run('query', '--json', '--oldest')).stdout)).toEqual([record(1)]);
  for (const bad of [
    ['--since', 'yesterday'],
    ['--since', '10m', '--until', '1h'],
    ['--attribute', 'x'],
    ['--account', 'ann'],
    ['--severity', 'loud'],
  ])
    expect((await run('query', ...bad)).exitCode, bad.join(' ')).toBe(2);
  expect((await run('stats', '--buckets', '241')).stderr).toContain('a number from 1 to 240 is needed');
  expect(asked).toHaveLength(1);
});

test('query tells of no records at all from none that match', async () => {
  const { run } = await serve(() => []);
  expect((await run('query')).stdout).toMatch(/^No records yet\.\n.*sallyport telemetry show\n$/);
  expect((await run('query', '--service', 's')).stdout).toBe('No records match.\n');
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
    `\nat least 1,003 records from ${at} to ${at}\n█ ▁  at most 1,000 in one\n  █  errors, at most 3\n`,
  );
  expect([...asked[1]!.searchParams]).toEqual([
    ['from', '2025-12-31T00:00:00.000Z'],
    ['text', 'x'],
  ]);
  await run('query', '--since', '2026-01-01T00:00Z');
  expect(asked[3]!.searchParams.get('from')).toBe(at);
  expect(await run('query', '--service', 'down')).toMatchObject({ exitCode: 0, stderr: '' });
});

test('stats and query say that there are more where not all were counted, and nothing of it where all were', async () => {
  const { run } = await serve(({ pathname }) =>
    pathname === '/v1/logs' ? [record(1)] : { ...stats, complete: true },
  );
  const all = `1,003 records from ${at} to ${at}\n`;
  expect((await run('stats')).stdout.startsWith(all)).toBe(true);
  expect((await run('query')).stderr.startsWith(`\n${all}`)).toBe(true);
});

test('stats draws a line of bars', async () => {
  const { run, asked } = await serve(() => stats);
  const { stdout, stderr } = await run('stats', '--buckets', '3');
  expect(stdout).toContain('at least 1,003 records from 2026-01-01T00:00:00.000Z');
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
    if (url.pathname === '/v1/logs') {
      // Pages of one, as of large records; one of them is empty, since what is looked at for a page is bounded.
      const page = Number(url.searchParams.get('offset') ?? 0);
      response.setHeader('link', `</v1/logs?offset=${page + 1}>; rel="next"`);
      return [[record(6)], [], [record(5)], [record(4)]][page];
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = (id: number) => `id: ${id}\ndata: ${JSON.stringify(record(id))}\n\n`;
    streams += 1;
    if (streams === 1) response.write('id: 6\nevent: started\ndata: {"id":6}\n\n');
    else if (streams === 2) response.end(`id: 6\nevent: started\ndata: {"id":6}\n\n${event(7)}`);
    else response.write(event(8));
    return undefined;
  });
  const main = join(import.meta.dirname, '../../main.ts');
  const child = spawn(
    process.execPath,
    ['-C', '@sallyport/source', main, 'telemetry', 'tail', '--json', '--last', '2'],
    {
      cwd,
      env: { PATH: process.env['PATH'], HOME: cwd, ...env },
    },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const stderr = text(child.stderr);
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
  const streamed = asked.filter(({ pathname }) => pathname.endsWith('/stream'));
  expect(streamed.map((url) => url.searchParams.get('from_id'))).toEqual([null, '6', '7']);
  const exit = once(child, 'exit');
  child.kill('SIGINT');
  expect(await exit).toEqual([130, null]);
  expect(await stderr).toBe('Waiting for records; Ctrl-C ends.\n');
});

test('tail has what is stored between its requests, though none matched before', async () => {
  const { run } = await serve((url, response) => {
    if (url.pathname === '/v1/logs') return [];
    const from = url.searchParams.get('from_id');
    if (from === '7') {
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end('{"error":"access_denied","error_description":"No more."}');
      return undefined;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`id: ${from ?? 6}\nevent: started\ndata: {}\n\n`);
    // It came while the last ones were asked for.
    if (from === '6') response.end(`id: 7\ndata: ${JSON.stringify(record(7))}\n\n`);
    return undefined;
  });
  expect(await run('tail', '--json', '--last', '2')).toMatchObject({
    exitCode: 3,
    stdout: expect.stringContaining('body 7') as string,
  });
});
