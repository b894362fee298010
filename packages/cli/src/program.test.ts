import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgram } from './program.ts';
import { runCli, runHere } from './testing/cli.ts';
import { commandPath } from './usage.ts';

let cwd: string;
beforeAll(() => (cwd = mkdtempSync(join(tmpdir(), 'sallyport-program-'))));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe('wrong usage says once what is wrong, and where the help is', () => {
  test.each([
    [
      'session list --limit abc',
      "Option '--limit <number>' argument 'abc' is invalid: a number of at least 1 is needed.",
      'sallyport session list',
    ],
    [
      'bridge run --max-sessions 0',
      "Option '--max-sessions <number>' argument '0' is invalid: a number of at least 1 is needed.",
      'sallyport bridge run',
    ],
    ['session list --limt 3', "Unknown option '--limt'. Did you mean --limit?", 'sallyport session list'],
    ['sesion list', "Unknown command 'sesion'. Did you mean session?", 'sallyport'],
    ['sesion --help', "Unknown command 'sesion'. Did you mean `sallyport session`?", 'sallyport'],
    [
      'session rum --help',
      "Unknown command 'rum'. Did you mean `sallyport session run`?",
      'sallyport session',
    ],
    ['help nope', "Unknown command 'nope'.", 'sallyport'],
    ['help session rum', "Unknown command 'rum'. Did you mean `sallyport session run`?", 'sallyport session'],
    ['help whoami me', "Unknown command 'me'.", 'sallyport whoami'],
    ['session show', "Missing required argument 'id'.", 'sallyport session show'],
    ['whoami me', "Too many arguments for 'whoami'. Expected 0 arguments but got 1: me.", 'sallyport whoami'],
  ])('%s', async (line, message, command) => {
    const program = createProgram(() => undefined);
    await expect(program.parseAsync(line.split(' '), { from: 'user' })).rejects.toMatchObject({
      message,
      nextStep: `See: ${command} --help`,
      exitCode: 2,
    });
  });

  test('on stderr', async () => {
    expect(await runCli(['help', 'session', 'rum'], { cwd })).toEqual({
      exitCode: 2,
      stdout: '',
      stderr:
        "error: Unknown command 'rum'. Did you mean `sallyport session run`?\nSee: sallyport session --help\n",
    });
  });

  test('as JSON where asked for', async () => {
    const { exitCode, stdout } = await runHere(['session', 'list', '--limt', '--json'], { cwd });
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: 'usage',
      error_description: "Unknown option '--limt'. Did you mean --limit?",
      next_step: 'See: sallyport session list --help',
    });
  });

  test('but not for what looks like it after `--`', async () => {
    const { exitCode, stdout, stderr } = await runHere(['session', 'list', '--limt', '--', '--json'], {
      cwd,
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^error: Unknown option '--limt'/);
  });

  test('a group without a command shows its commands on stderr', async () => {
    const { exitCode, stdout, stderr } = await runHere(['session'], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/run \[options\] <prompt...>[^]*error: Which command of `sallyport session`\?/);
  });
});

test.each([['--help'], ['help session run'], ['session help run'], ['--version']])(
  '%s is on stdout',
  async (line) => {
    const { exitCode, stdout, stderr } = await runHere(line.split(' '), { cwd });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(line === '--version' ? /^\d+\.\d+\.\d+\n$/ : /^Usage: sallyport/);
  },
);

describe('the help of', () => {
  const leaves = (command: Command): Command[] => {
    const below = command.createHelp().visibleCommands(command);
    return command.commands.length === 0 ? [command] : below.flatMap(leaves);
  };
  const commands = leaves(createProgram(() => undefined)).filter((command) => command.name() !== 'help');

  test.each(commands.map((command) => [commandPath(command), command] as const))('%s', (path, command) => {
    let text = '';
    command.configureOutput({ writeOut: (part) => (text += part) });
    command.outputHelp();
    expect(text).toMatch(/^Usage: sallyport .+\n\n\S.+/);
    expect(text).toContain('Global Options:');
    expect(text).toMatch(new RegExp(`Examples?:\\n(  \\$ .*${path}.*\n){1,3}`));
    expect(text).toMatch(/Exit codes: 0 done, .*\n.*\nDocumentation: \/.*README\.md\n$/);
  });
});
