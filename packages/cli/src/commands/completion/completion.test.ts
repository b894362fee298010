import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgram } from '../../program.ts';
import { runHere } from '../../testing/cli.ts';
import { complete } from './complete.ts';

const program = createProgram(() => undefined);
const values = async (...words: string[]) =>
  (await complete(program, words, () => Promise.resolve([]))).map(({ value }) => value);

describe('the candidates are', () => {
  test('the commands of where one is, but not the hidden ones', async () => {
    expect(await values('')).toEqual(expect.arrayContaining(['login', 'session', 'help']));
    expect(await values('')).not.toContain('__complete');
    expect(await values('ses')).toEqual(['session']);
    expect(await values('session', 'l')).toEqual(['list', 'logs']);
    expect(await values('--base-url', 'session', 'log')).toEqual(['login', 'logout']);
    expect(await values('--json', '--base-url=x', 'session', 'lis')).toEqual(['list']);
    expect(await values('nope', '')).toEqual(await values(''));
  });

  test('the flags of the command and those that hold everywhere', async () => {
    expect(await values('session', 'run', '--t')).toEqual(['--title', '--tag', '--timeout']);
    expect(await values('session', 'list', '--')).toEqual(
      expect.arrayContaining(['--mine', '--limit', '--help', '--json', '--base-url', '--profile']),
    );
    expect(await values('session', 'run', '--', '--')).toEqual([]);
  });

  test('the choices of arguments and flags, and nothing where only the person knows', async () => {
    expect(await values('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(await values('config', 'set', 'b')).toEqual(['base-url']);
    expect(await values('session', 'list', '--status', 'd')).toEqual(['disconnected', 'done']);
    expect(await values('env', 'list', '--state=on')).toEqual(['--state=online']);
    expect(await values('config', 'set', 'base-url', '')).toEqual([]);
    expect(await values('session', 'run', '--title', '')).toEqual([]);
    expect(await values('session', 'run', '--title=')).toEqual([]);
  });

  test('the profiles of this machine where one is taken, and no others where one is made', async () => {
    const known = ['home', 'work'].map((value) => ({ value, says: '' }));
    const profiles = async (...words: string[]) =>
      (await complete(program, words, (kind) => Promise.resolve(kind === 'profile' ? known : []))).map(
        ({ value }) => value,
      );
    expect(await profiles('--profile', '')).toEqual(['home', 'work']);
    expect(await profiles('whoami', '--profile', 'w')).toEqual(['work']);
    expect(await profiles('whoami', '--profile=w')).toEqual(['--profile=work']);
    for (const command of ['use', 'show', 'remove'])
      expect(await profiles('profile', command, 'h')).toEqual(['home']);
    expect(await profiles('profile', 'add', '')).toEqual([]);
  });

  test.each([
    ['session', 'session show '],
    ['session', 'session wait session_1 '],
    ['open session', 'session approve '],
    ['open session', 'session requests '],
    ['open session', 'session send '],
    ['open session', 'session stop '],
    ['session', 'session delete '],
    ['session', 'feedback --session '],
    ['session', 'bridge clean '],
    ['environment', 'session run look --env '],
    ['environment', 'session run look --env='],
    ['environment', 'session list --env '],
    ['environment', 'bridge unregister '],
    ['environment', 'env get '],
    ['environment', 'env delete env_1 '],
    ['environment', 'bridge run --env '],
    ['key', 'keys revoke '],
    ['device', 'device revoke device_1 '],
    ['member', 'admin people role '],
    ['member', 'admin people remove a@b.example '],
    ["member's key", 'admin keys revoke '],
    ["member's device", 'admin devices revoke '],
    ["member's login", 'admin logins revoke '],
    ["member's sign-in", 'admin sign-ins end '],
    ['client', 'admin clients remove '],
    ['nothing', 'admin people add '],
    ['nothing', 'session send session_1 '],
  ])('ids of the kind %s are completed: %s', async (wanted, typed) => {
    const asked: string[] = [];
    await complete(program, typed.split(' '), async (kind) => {
      asked.push(kind);
      return [];
    });
    expect(asked).toEqual(wanted === 'nothing' ? [] : [wanted]);
  });

  test('those of the gateway that the words before name', async () => {
    const given: object[] = [];
    const asking = (typed: string) =>
      complete(program, typed.split(' '), async (_kind, flags) => {
        given.push(flags);
        return [];
      });
    await asking('--base-url http://a --profile=work session show ');
    await asking('session show --base-url=http://b?c=d ');
    expect(given).toEqual([{ baseUrl: 'http://a', profile: 'work' }, { baseUrl: 'http://b?c=d' }]);
  });

  test('files where a flag takes one', async () => {
    expect(await values('bridge', 'run', '--dir', 'x')).toEqual([':files']);
    expect(await values('bridge', 'run', '--dir=x')).toEqual([':files']);
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

  const scriptOf = async (shell: string) => (await runHere(['completion', shell], { cwd })).stdout;
  const env = (programs = cwd) => ({
    ...process.env,
    PATH: `${programs}:${process.env['PATH'] ?? ''}`,
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

  /** What bash offers after the words, as readline splits them; `sallyport` is the one of `programs`. */
  const bash = async (words: readonly string[], programs?: string) => {
    const typed = ['sallyport', ...words].map((word) => `'${word}'`).join(' ');
    const ask = `COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _sallyport; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const command = `${await scriptOf('bash')}\ncomplete -p sallyport\n${ask}`;
    const said = execFileSync('bash', ['--norc', '-euc', command], {
      cwd,
      env: env(programs),
      encoding: 'utf8',
    });
    return said.trim().split('\n');
  };

  test.skipIf(!has('bash'))('bash', async () => {
    const [registered, ...offered] = await bash(['profile', 'use', 'w']);
    expect(registered).toBe('complete -F _sallyport sallyport');
    expect(offered).toEqual(['work', 'with-dash']);
  });

  test.skipIf(!has('bash')).each([
    [
      ['session', 'run', '--t'],
      ['session', 'run', '--t'],
      ['--title', '--tag'],
      ['--title', '--tag'],
    ],
    // It splits at `=` and replaces only what stands behind.
    [['--base-url', '=', 'x', 'comp'], ['--base-url=x', 'comp'], ['completion'], ['completion']],
    [['--base-url', '=', 'x', 'completion', ''], ['--base-url=x', 'completion', ''], ['bash'], ['bash']],
    [['whoami', '--profile', '=', 'wo'], ['whoami', '--profile=wo'], ['--profile=work'], ['work']],
    [['whoami', '--profile', '='], ['whoami', '--profile='], ['--profile=work'], ['work']],
    [['remove', 'a@b', 'ann', '@', 'ex'], ['remove', 'a@b', 'ann@ex'], ['ann@example.com'], ['example.com']],
    [['remove', 'ann', '@'], ['remove', 'ann@'], ['ann@example.com'], ['example.com']],
    [['remove', ''], ['remove', ''], ['ann@example.com'], ['ann@example.com']],
  ])('bash asks after %j for %j', async (typed, words, candidates, offered) => {
    // Only the script is at work here, so that `sallyport` may be a program that starts at once: it notes what it is asked.
    const programs = mkdtempSync(join(cwd, 'programs-'));
    const lines = candidates.map((each) => `${each}\tits help`).join('\n');
    const script = `#!/bin/sh\nprintf '%s\\n' "$@" > '${programs}/asked'\ncat <<'END'\n${lines}\nEND\n`;
    writeFileSync(join(programs, 'sallyport'), script, { mode: 0o755 });
    expect((await bash(typed, programs)).slice(1)).toEqual(offered);
    const asked = readFileSync(join(programs, 'asked'), 'utf8');
    expect(asked).toBe(['__complete', '--', ...words, ''].join('\n'));
  });

  test.skipIf(!has('zsh'))('zsh takes the script', async () => {
    const script = await scriptOf('zsh');
    execFileSync('zsh', ['-fc', `autoload -U compinit && compinit -u -d "$PWD/dump"\n${script}`], { cwd });
  });

  test.skipIf(!has('fish'))('fish', async () => {
    const script = await scriptOf('fish');
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
    const { exitCode, stderr } = await runHere(['completion', 'tcsh'], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/'tcsh' is invalid .*Allowed choices are bash, zsh, fish\./);
  });
});
