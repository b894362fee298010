import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, symlinkSync, mkdirSync, existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../../testing/cli.ts';
import { unitOf, unitText } from './unit.ts';

/** The words of a unit's command line, as systemd.service(5) has them read. */
function wordsOf(unit: string): string[] {
  const line = /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? '';
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) =>
    word.replace(/\\(.)/g, '$1').replaceAll('%%', '%').replaceAll('$$', '$'),
  );
}

test('a unit runs just the words that were given, whatever is in them', () => {
  const words = ['/usr/bin/node', 'a b', 'echo "$HOME" %h \\n \'x\'', '100%', '$$', ''];
  const text = unitText(
    { env: { PATH: '/bin:/a b', SALLYPORT_TOKEN: 'secret' } },
    { directory: '/d%', words },
  );
  expect(wordsOf(text)).toEqual(words);
  expect(text).toContain('\nWorkingDirectory=/d%%/\n');
  expect(text).toContain('\nEnvironment="PATH=/bin:/a b"\n');
  expect(text).not.toContain('secret');
});

test('a bridge that only a person can help is not started again', () => {
  const text = unitText({ env: {} }, { directory: '/', words: ['x'] });
  expect(text).toMatch(/^Restart=on-failure$/m);
  // Wrong usage, a login that ended or may not, no such environment, another bridge there: not a fault, nor a network.
  expect(text).toMatch(/^RestartPreventExitStatus=2 3 4 5$/m);
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

test.skipIf(!hasSystemd)('systemd itself takes a unit, whatever the names of the folders', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-unit-'));
  const [directory, programs] = [join(folder, `a %h "b" 'c' $d é`), join(folder, 'a %h $d é')];
  mkdirSync(directory);
  mkdirSync(programs);
  const node = join(programs, 'node');
  symlinkSync(process.execPath, node);
  const words = [node, 'x y', `echo "$HOME" %h \\n 'x' ; true && 100% é`, ''];
  const file = join(folder, unitOf({ env: {} }, directory).name);
  writeFileSync(
    file,
    unitText({ env: { PATH: '/bin:/a b', XDG_STATE_HOME: '/100%' } }, { directory, words }),
  );
  const env = { ...process.env, XDG_RUNTIME_DIR: folder };
  const verify = spawnSync('systemd-analyze', ['--user', 'verify', file], { env, encoding: 'utf8' });
  expect(verify).toMatchObject({ status: 0, stderr: '' });
});

test('the way to the network is handed on, but for the password of a proxy', () => {
  const env = {
    HTTPS_PROXY: 'http://proxy:3128',
    NODE_EXTRA_CA_CERTS: '/ca.pem',
    http_proxy: 'http://a:b@proxy',
  };
  const text = unitText({ env }, { directory: '/', words: ['x'] });
  expect(text.match(/^Environment=.*$/gm)).toEqual([
    'Environment="NODE_EXTRA_CA_CERTS=/ca.pem"',
    'Environment="HTTPS_PROXY=http://proxy:3128"',
  ]);
});

test.each([
  ['a word', { directory: '/', words: ['a\nExecStartPost=x'] }],
  ['the directory', { directory: '/a\nExecStartPost=x', words: [] }],
  ['the directory, by a carriage return', { directory: '/a\rExecStartPost=x', words: [] }],
])('a line break in %s is refused', (_name, unit) => {
  expect(() => unitText({ env: {} }, unit)).toThrow('line break');
});

test.each(['/a\\', '/a ', '/a"', "/a'", '/#', '/'])(
  'each setting keeps a line of its own in %j',
  (directory) => {
    const lines = unitText({ env: {} }, { directory, words: ['x'] }).split('\n');
    for (const line of lines) expect(line).not.toMatch(/[\\\s]$/);
    expect(lines).toContain(`WorkingDirectory=${directory === '/' ? '' : directory}/`);
  },
);

test('each directory has a unit of its own', () => {
  const env = { HOME: '/home/me' };
  const names = ['/a/app', '/b/app', '/', '/a/ä p'].map((directory) => unitOf({ env }, directory).name);
  expect(new Set(names).size).toBe(4);
  for (const name of names) expect(name).toMatch(/^sallyport-bridge-[\w-]+-[0-9a-f]{6}\.service$/);
  expect(unitOf({ env }, '/a').file).toMatch(/^\/home\/me\/\.config\/systemd\/user\//);
});

test('a bridge is installed, shown and uninstalled; what it runs takes what it is given', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'sallyport-unit-'));
  const env = { XDG_CONFIG_HOME: join(cwd, 'xdg') };
  const run = (...args: string[]) => runCli(['bridge', ...args], { cwd, env });
  const options = [
    '--exec',
    'echo "$1" 50%',
    '--tag',
    'linux',
    '--on-end',
    'true',
    '--interactive',
    '--env',
    'env_00000000000000000000000001',
  ];

  const printed = await run('install', ...options, '--print');
  expect(printed.exitCode, printed.stderr).toBe(0);
  expect(existsSync(env.XDG_CONFIG_HOME)).toBe(false);
  const [node, main, ...words] = wordsOf(printed.stdout);
  expect([node, main]).toEqual([process.execPath, join(import.meta.dirname, '../../main.ts')]);
  expect(words).toEqual([
    ...['--base-url', 'http://127.0.0.1:8787', 'bridge', 'run', '--dir', cwd],
    ...['--env', 'env_00000000000000000000000001', '--exec', 'echo "$1" 50%'],
    ...[
      '--max-sessions',
      '4',
      '--tag',
      'linux',
      '--interactive',
      '--worktrees',
      'changed',
      '--changes',
      'patch',
      '--on-end',
      'true',
    ],
  ]);

  const installed = await run('install', ...options, '--json');
  const { file, text } = JSON.parse(installed.stdout) as { file: string; text: string };
  expect(readFileSync(file, 'utf8')).toBe(text);
  expect(`${text.trimEnd()}\n`).toBe(printed.stdout);
  expect((await run('install', ...options)).stdout).toMatch(/^Replaced .*\n[^]*systemctl --user restart/);

  const wants = join(file, '../default.target.wants');
  mkdirSync(wants);
  symlinkSync(file, join(wants, file.split('/').at(-1)!));
  expect(await run('uninstall')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('systemctl --user stop') as string,
  });
  expect(execFileSync('find', [env.XDG_CONFIG_HOME, '-name', '*.service'], { encoding: 'utf8' })).toBe('');
  expect((await run('uninstall')).exitCode).toBe(4);
  expect((await run('install', '--dir', 'nowhere', '--exec', 'x')).exitCode).toBe(2);
  expect((await run('install')).exitCode).toBe(2);
});

test('a bridge of a profile has its login, and not only its address', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'sallyport-unit-'));
  await runCli(['profile', 'add', 'work', '--use'], { cwd });
  const { stdout } = await runCli(['bridge', 'install', '--exec', 'true', '--print'], { cwd });
  expect(wordsOf(stdout).slice(2, 6)).toEqual(['--profile', 'work', 'bridge', 'run']);
});
