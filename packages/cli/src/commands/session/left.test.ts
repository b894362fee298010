import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { environmentAt, startService, type Service } from '../../testing/service.ts';
import { testSession } from '../../testing/session.ts';

const environment = `env_${'0'.repeat(26)}`;
const session = testSession({ environment_id: environment, status: 'running' });

let cwd: string;
let service: Service;
let stream: ServerResponse | undefined;
/** What the log begins with. */
let events: string;
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'sallyport-left-'));
  stream = undefined;
  service = await startService(({ url }, response) => {
    if (url.endsWith('/current_user_access'))
      return { body: { access_level: 'member', permissions: ['write'] } };
    if (!url.includes('/events/stream')) return { body: session };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`${events}event: caught_up\ndata: {"seq":1}\n\n`);
    stream = response;
    return undefined;
  });
});
afterEach(() => {
  service.close();
  rmSync(cwd, { recursive: true, force: true });
});

function frame(seq: number, type: string, data: object): string {
  const event = { id: `evt_${seq}`, seq, type, session_id: session.id, created_at: 'now', data };
  return `id: ${seq}\ndata: ${JSON.stringify(event)}\n\n`;
}

const main = join(import.meta.dirname, '../../main.ts');
const words = ['-C', '@sallyport/source', main, 'session', 'run', 'look', '--env', environment];
const command = [process.execPath, ...words].map((word) => `'${word}'`).join(' ');
const environmentHere = () => ({
  ...{ PATH: process.env['PATH'], HOME: cwd, SALLYPORT_CONFIG_DIR: join(cwd, 'config'), TERM: 'xterm' },
  ...environmentAt(service),
});

/** Runs a line of the shell; gives what it printed, and what it prints. */
function shell(program: string, args: readonly string[]) {
  const child = spawn(program, args, { cwd, env: environmentHere(), detached: true });
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (printed[name] += text));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  return { child, printed, ended };
}

test('whose output nobody reads on says that the session does, and is no success', async () => {
  const line = 'x'.repeat(100);
  events = Array.from({ length: 5000 }, (_, at) =>
    frame(at + 1, 'session.output', { stream: 'stdout', text: line }),
  ).join('');
  const piped = `exec 3>&1; { ${command}; echo "exit $?" >&3; } | head -1`;
  const { printed, ended } = shell('sh', ['-c', piped]);
  await ended;
  expect(printed.stdout).toContain('exit 141\n');
  expect(printed.stderr).toContain(
    'Nobody reads the output any more; session session_1 goes on.\nWatch it: sallyport session logs -f session_1\nStop it: sallyport session stop session_1\nEnd it at once: sallyport session stop --force session_1\n',
  );
  expect(service.lines().filter((each) => each.includes('/stop'))).toEqual([]);
});

const hasScript = spawnSync('script', ['--version']).status === 0;

describe.skipIf(!hasScript)('whose terminal goes away at a question', () => {
  test('has the session stopped, and ends with it', async () => {
    events = frame(1, 'tool.permission_request', { request_id: 'r1', tool: 'bash', description: 'ls' });
    const line = `echo "pid $$"; exec ${command}`;
    const { child, printed, ended } = shell('script', ['--quiet', '--flush', '--command', line, '/dev/null']);
    await expect.poll(() => printed.stdout).toContain('Allow bash: ls?');
    const pid = Number(/pid (\d+)/.exec(printed.stdout)?.[1]);
    child.kill('SIGKILL');
    await ended;
    const stop = `POST /v1/environments/${environment}/work/work_1/stop`;
    await expect.poll(() => service.lines()).toContain(stop);
    stream?.write(frame(2, 'session.updated', { status: 'stopped' }));
    const isThere = () => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    await expect.poll(isThere).toBe(false);
  });
});
