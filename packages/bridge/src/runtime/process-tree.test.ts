import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { markVariables, sweep, type Mark } from './process-tree.ts';

/** A `ps` with macOS' options, for the children of the test alone. */
const fakePs = `#!/bin/sh
[ "$*" = '-axEww -o pid=,command=' ] || exit 1
for pid in $PIDS; do
  [ -r "/proc/$pid/environ" ] && printf '%5s %s %s\\n' "$pid" "$(tr '\\0' ' ' < /proc/$pid/cmdline)" "$(tr '\\0' ' ' < /proc/$pid/environ)"
done
exit 0`;

const children: ChildProcess[] = [];
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-ps-'));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** A process of that work, which has left every group that it began in. */
function marked(mark: Mark): ChildProcess {
  const env = { ...process.env, ...markVariables(mark) };
  const child = spawn('sleep', ['1000'], { env, detached: true, stdio: 'ignore' });
  children.push(child);
  return child;
}

describe.each(['linux', 'darwin'] as const)('on %s', (platform) => {
  test('a sweep ends what carries the mark of its work, and nothing else', async () => {
    const [sessionId, workId] = ['session_1', 'work_1'];
    const ours = marked({ sessionId, workId });
    const others = [marked({ sessionId, workId: 'work_10' }), marked({ sessionId: 'session_2', workId })];
    await Promise.all(children.map((child) => once(child, 'spawn')));
    writeFileSync(join(folder, 'ps'), fakePs);
    chmodSync(join(folder, 'ps'), 0o755);
    if (platform === 'darwin') vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`);
    vi.stubEnv('PIDS', children.map(({ pid }) => pid).join(' '));
    const ended = once(ours, 'exit');
    await sweep({ sessionId, workId }, platform);
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(others.map(({ exitCode, signalCode }) => exitCode ?? signalCode)).toEqual([null, null]);
  });
});

test('a sweep without a ps that tells of environments finds nobody', async () => {
  vi.stubEnv('PATH', '/nowhere');
  await expect(sweep({ sessionId: 's', workId: 'w' }, 'darwin')).resolves.toBeUndefined();
});
