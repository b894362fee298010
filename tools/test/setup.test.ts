import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';

const tools = join(import.meta.dirname, '..');
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A clone with nothing installed, whose npm runs `script`. */
function clone(script: string) {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-setup-'));
  folders.push(folder);
  for (const part of ['setup', 'start'])
    cpSync(join(tools, part), join(folder, 'tools', part), { recursive: true });
  mkdirSync(join(folder, 'packages'));
  mkdirSync(join(folder, 'programs'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module","devDependencies":{"node":"26.0.0"}}');
  const npm = join(folder, 'programs/npm');
  writeFileSync(npm, `#!/bin/sh\n${script}\n`);
  chmodSync(npm, 0o755);
  const env = { ...process.env, PATH: `${join(folder, 'programs')}${delimiter}${process.env['PATH'] ?? ''}` };
  const start = () => {
    const program = spawn(process.execPath, ['tools/start/start.mjs'], { cwd: folder, env });
    let screen = '';
    const waiting = new Set<() => void>();
    program.stderr.setEncoding('utf8').on('data', (text: string) => {
      screen += text;
      for (const look of waiting) look();
    });
    const says = (words: string) =>
      new Promise<void>((resolve) => {
        const look = () => screen.includes(words) && resolve();
        waiting.add(look);
        look();
      });
    return { program, says, end: () => ended(program).then((code) => ({ code, screen })) };
  };
  return { folder, start };
}

async function ended(program: ChildProcess): Promise<number | null> {
  const [code] = (await once(program, 'close')) as [number | null];
  return code;
}

/** Ends some time after it was asked to, with a program of its own that would not. */
const slow = `
echo $$ > npm.pid
sh -c 'trap "" INT TERM HUP; while :; do sleep 0.05; done' &
echo $! > inner.pid
trap 'sleep 0.3; echo done > npm.ended; exit 1' INT TERM HUP
echo working >&2
while :; do sleep 1000 & wait $!; done`;

/** One that was killed and not reaped yet is gone, too. */
const isAlive = (file: string) => {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', readFileSync(file, 'utf8').trim()]);
  const state = stdout.toString().trim();
  return state !== '' && !state.startsWith('Z');
};

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s during the installation ends npm and what it started before the prompt is back',
  async (signal) => {
    const { folder, start } = clone(slow);
    const { program, says, end } = start();
    await says('working');
    program.kill(signal);
    const { code, screen } = await end();
    expect(code).toBe(130);
    expect(existsSync(join(folder, 'npm.ended'))).toBe(true);
    expect(isAlive(join(folder, 'npm.pid'))).toBe(false);
    expect(isAlive(join(folder, 'inner.pid'))).toBe(false);
    expect(screen).toContain('The installation was interrupted');
    expect(screen).not.toContain('registry');
    expect(existsSync(join(folder, '.installing'))).toBe(false);
  },
);

test('a second signal kills an npm that heeds none', async () => {
  const { folder, start } = clone(`
echo $$ > npm.pid
trap 'echo again >&2' INT
echo working >&2
while :; do sleep 1000 & wait $!; done`);
  const { program, says, end } = start();
  await says('working');
  program.kill('SIGINT');
  await says('again');
  program.kill('SIGINT');
  expect((await end()).code).toBe(130);
  expect(isAlive(join(folder, 'npm.pid'))).toBe(false);
});

test('a second installation names the first, which goes on', async () => {
  const { start } = clone(slow);
  const first = start();
  await first.says('working');
  const { code, screen } = await start().end();
  expect(code).toBe(1);
  expect(screen).toContain(`Another installation runs (process ${first.program.pid}): wait for it`);
  first.program.kill('SIGTERM');
  expect((await first.end()).code).toBe(130);
});

test('an installation that was killed does not keep the next one out; a failure names the registry', async () => {
  const { folder, start } = clone('exit 7');
  const gone = spawn(process.execPath, ['-e', '']);
  await once(gone, 'exit');
  writeFileSync(join(folder, '.installing'), String(gone.pid));
  const { code, screen } = await start().end();
  expect(code).toBe(1);
  expect(screen).toContain('npm ci ended with 7');
  expect(screen).toContain('Check that the registry is reachable');
  expect(existsSync(join(folder, '.installing'))).toBe(false);
});
