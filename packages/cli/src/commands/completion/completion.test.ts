import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgram } from '../../program.ts';
import { runCli } from '../../testing/cli.ts';
import { complete } from './complete.ts';

const program = createProgram(() => undefined);
const values = (...words: string[]) => complete(program, words, () => []).map(({ value }) => value);

describe('the candidates are', () => {
  test('the commands of where one is, but not the hidden ones', () => {
    expect(values('')).toEqual(expect.arrayContaining(['login', 'session', 'help']));
    expect(values('')).not.toContain('__complete');
    expect(values('ses')).toEqual(['session']);
    expect(values('session', 'l')).toEqual(['list', 'logs']);
    expect(values('--base-url', 'session', 'log')).toEqual(['login', 'logout']);
    expect(values('--json', '--base-url=x', 'session', 'lis')).toEqual(['list']);
    expect(values('nope', '')).toEqual(values(''));
  });

  test('the flags of the command and those that hold everywhere', () => {
    expect(values('session', 'run', '--t')).toEqual(['--title', '--tag', '--timeout']);
    expect(values('session', 'list', '--')).toEqual(
      expect.arrayContaining(['--mine', '--limit', '--help', '--json', '--base-url', '--profile']),
    );
    expect(values('session', 'run', '--', '--')).toEqual([]);
  });

  test('the choices of arguments and flags, and nothing where only the person knows', () => {
    expect(values('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(values('config', 'set', 'b')).toEqual(['base-url']);
    expect(values('config', 'set', 'base-url', '')).toEqual([]);
    expect(values('session', 'run', '--title', '')).toEqual([]);
    expect(values('session', 'run', '--title=')).toEqual([]);
  });

  test('the profiles of this machine where one is taken, and no others where one is made', () => {
    const profiles = (...words: string[]) =>
      complete(program, words, () => ['home', 'work']).map(({ value }) => value);
    expect(profiles('--profile', '')).toEqual(['home', 'work']);
    expect(profiles('whoami', '--profile', 'w')).toEqual(['work']);
    expect(profiles('whoami', '--profile=w')).toEqual(['--profile=work']);
    for (const command of ['use', 'show', 'remove'])
      expect(profiles('profile', command, 'h')).toEqual(['home']);
    expect(profiles('profile', 'add', '')).toEqual([]);
  });

  test('files where a flag takes one', () => {
    expect(values('bridge', 'run', '--dir', 'x')).toEqual([':files']);
    expect(values('bridge', 'run', '--dir=x')).toEqual([':files']);
  });
});

describe('in a shell', () => {
  let cwd: string;
  beforeAll(() => {
    cwd = mkdtempSync(join(tmpdir(), 'sallyport-completion-'));
    const main = join(import.meta.dirname, '../../main.ts');
    const command = [process.execPath, '-C', '@sallyport/source', main].map((word) => `'${word}'`).join(' ');
    mkdirSync(join(cwd, 'config'));
    writeFileSync(
      join(cwd, 'config/config.json'),
      JSON.stringify({ profiles: { work: {}, 'with-dash': {} } }),
    );
    writeFileSync(join(cwd, 'sallyport'), `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
  });
  afterAll(() => rmSync(cwd, { recursive: true, force: true }));

  const env = () => ({
    ...process.env,
    PATH: `${cwd}:${process.env['PATH'] ?? ''}`,
    SALLYPORT_CONFIG_DIR: join(cwd, 'config'),
  });
  const has = (shell: string) => {
    try {
      execFileSync(shell, ['-c', 'exit 0']);
      return true;
    } catch {
      return false;
    }
  };

  /** What bash offers after the words, as readline splits them. */
  const bash = async (...words: string[]) => {
    const { stdout: script } = await runCli(['completion', 'bash'], { cwd });
    const typed = ['sallyport', ...words].map((word) => `'${word}'`).join(' ');
    const ask = `COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _sallyport; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['--norc', '-euc', `${script}\ncomplete -p sallyport\n${ask}`], {
      cwd,
      env: env(),
      encoding: 'utf8',
    })
      .trim()
      .split('\n');
  };

  test.skipIf(!has('bash'))('bash', async () => {
    expect(await bash('session', 'lo')).toEqual(['complete -F _sallyport sallyport', 'logs']);
    expect((await bash('session', 'run', '--t')).slice(1)).toEqual(['--title', '--tag', '--timeout']);
    // It splits at `=` and replaces only what stands behind.
    expect((await bash('--base-url', '=', 'x', 'comp')).slice(1)).toEqual(['completion']);
    expect((await bash('--base-url', '=', 'x', 'completion', '')).slice(1)).toEqual(['bash', 'zsh', 'fish']);
    expect((await bash('profile', 'use', 'w')).slice(1)).toEqual(['work', 'with-dash']);
    expect((await bash('whoami', '--profile', '=', 'wo')).slice(1)).toEqual(['work']);
  });

  test.skipIf(!has('zsh'))('zsh takes the script', async () => {
    const { stdout: script } = await runCli(['completion', 'zsh'], { cwd });
    execFileSync('zsh', ['-fc', `autoload -U compinit && compinit -u -d "$PWD/dump"\n${script}`], { cwd });
  });

  test.skipIf(!has('fish'))('fish', async () => {
    const { stdout: script } = await runCli(['completion', 'fish'], { cwd });
    const ask = `${script}\ncomplete --do-complete 'sallyport session lo'`;
    expect(execFileSync('fish', ['--no-config', '-c', ask], { cwd, env: env(), encoding: 'utf8' })).toMatch(
      /^logs\t/,
    );
    const profiles = `${script}\ncomplete --do-complete 'sallyport profile use wo'`;
    expect(
      execFileSync('fish', ['--no-config', '-c', profiles], { cwd, env: env(), encoding: 'utf8' }),
    ).toMatch(/^work\b/);
  });

  test('an unknown one is named with those that are known', async () => {
    const { exitCode, stderr } = await runCli(['completion', 'tcsh'], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/'tcsh' is invalid .*Allowed choices are bash, zsh, fish\./);
  });
});
