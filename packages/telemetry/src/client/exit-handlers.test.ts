import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { makeBatcher, scratch } from '../../test/batcher.ts';
import { startSink } from '../../test/sink.ts';

const program = fileURLToPath(new URL('../../test/program.ts', import.meta.url));

async function run(
  options: {
    readonly baseUrl: string;
    readonly spoolDir: string;
    readonly token?: string;
    readonly kill?: NodeJS.Signals;
    /** Its own trouble is a line on stderr, which nobody reads. */
    readonly unheard?: boolean;
  },
  ...argv: readonly string[]
) {
  const { baseUrl, spoolDir, token, kill, unheard = false } = options;
  const child = spawn(process.execPath, ['--conditions=@sallyport/source', program, ...argv], {
    env: {
      ...{ BASE_URL: baseUrl, SPOOL_DIR: spoolDir },
      ...(token !== undefined && { TOKEN: token }),
      ...(unheard && { SALLYPORT_DEBUG: '1' }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  if (unheard) child.stderr.destroy();
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    if (kill && stdout.includes('ready')) child.kill(kill);
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  const endedAfterMs = Number(/"endedAfterMs":([\d.]+)/.exec(stdout)?.[1] ?? NaN);
  return { code, signal, stderr, endedAfterMs };
}

test('a program that just ends sends its events, and keeps its exit code', async () => {
  const sink = await startSink();
  const { spoolDir } = scratch();
  expect(await run({ baseUrl: sink.baseUrl, spoolDir, token: 't' }, 'end', '3')).toMatchObject({
    code: 3,
    stderr: '',
  });
  expect(sink.names()).toEqual(['end.0', 'end.1', 'end.2']);
  expect(() => readdirSync(spoolDir)).toThrow('ENOENT');
});

test('a program goes on where nobody reads what the batcher has to say', async () => {
  const end = await run(
    { baseUrl: 'http://127.0.0.1:1', spoolDir: '/dev/null/spool', unheard: true },
    'shutdown',
  );
  expect(end).toMatchObject({ code: 0 });
});

describe('an event that cannot be sent is sent by the next run, once', () => {
  test.each([
    ['a closed port', 'closed', 'end', { code: 3 }],
    ['a service that never answers', 'hang', 'end', { code: 3 }],
    ['503 with Retry-After', '503', 'end', { code: 3 }],
    ['no login', 'no login', 'end', { code: 3 }],
    ['process.exit()', 'up', 'exit', { code: 7 }],
    ['an uncaught error', 'up', 'throw', { code: 1 }],
    ['SIGTERM', 'up', 'signal', { code: null, signal: 'SIGTERM' }],
    ['shutdown() without an answer', 'hang', 'shutdown', { code: 0 }],
  ] as const)('%s', async (_, service, ending, end) => {
    const sink = await startSink(() =>
      service === 'hang' ? 'hang' : { status: 503, headers: { 'retry-after': '60' } },
    );
    const { spoolDir } = scratch();
    const first = await run(
      {
        baseUrl: service === 'closed' ? 'http://127.0.0.1:1' : sink.baseUrl,
        spoolDir,
        ...(service !== 'no login' && { token: 't' }),
        ...(ending === 'signal' && { kill: 'SIGTERM' }),
      },
      ending,
    );
    expect(first).toMatchObject(end);
    if (ending !== 'throw') expect(first.stderr).toBe('');
    if (ending !== 'signal') expect(first.endedAfterMs).toBeLessThan(2000);

    sink.script = () => ({ status: 200 });
    const before = sink.requests.length;
    const next = makeBatcher({ baseUrl: sink.baseUrl, spoolDir });
    await next.batcher.flush();
    await next.batcher.flush();
    expect(sink.names().slice(before)).toEqual([`${ending}.0`]);
    expect(readdirSync(spoolDir)).toEqual([]);
  });
});
