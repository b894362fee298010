import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as cli from '@sallyport/cli';
import * as gateway from '@sallyport/gateway';
import { expect, test } from 'vitest';
import { commandLines } from './command-lines.ts';

const root = join(import.meta.dirname, '../..');
const pages = globSync(['README.md', 'docs/**/*.md', 'packages/*/README.md'], { cwd: root });
const programs = {
  sallyport: () => cli.createProgram(() => undefined),
  'sallyport-gateway': () => gateway.createProgram(),
};
type Program = ReturnType<(typeof programs)['sallyport-gateway']>;

/** A page may leave an argument out, and stand a word in capitals for a value. */
const tolerated = /missing required argument|argument '[A-Z]+' is invalid/i;

/** What is wrong with a command line, by the program itself; nothing is run. */
async function fault([name, ...words]: readonly string[]): Promise<string | undefined> {
  const program = programs[name as keyof typeof programs]();
  quieten(program);
  const [first] = words;
  // The gateway's default command would take the word for an argument.
  if (first !== undefined && /^[a-z]/.test(first) && !program.commands.some((each) => each.name() === first))
    return `there is no command ${first}`;
  try {
    await program.parseAsync(words, { from: 'user' });
    return undefined;
  } catch (error) {
    const { message, exitCode } = error as Error & { readonly exitCode?: number };
    // 0: `--help` or `--version` was asked for.
    return exitCode === 0 || tolerated.test(message) ? undefined : message;
  }
}

function quieten(command: Program): void {
  command.configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  if (command.commands.length === 0) command.action(() => undefined);
  for (const each of command.commands) quieten(each);
}

test.each(pages)('the command lines of %s are ones that the programs know', async (page) => {
  const lines = commandLines(readFileSync(join(root, page), 'utf8'));
  const faults = await Promise.all(
    lines.map(async (words) => [words.join(' '), await fault(words)] as const),
  );
  expect(faults.filter(([, what]) => what !== undefined)).toEqual([]);
});

test('the lines are found', () => {
  const page =
    '```sh\ngit log | sallyport session send ID -  # note\n```\n| `sallyport config get\\|set KEY [-y]` |';
  expect(commandLines(page)).toEqual([
    ['sallyport', 'session', 'send', 'ID', '-'],
    ['sallyport', 'config', 'get', 'KEY', '-y'],
    ['sallyport', 'config', 'set', 'KEY', '-y'],
  ]);
  const ours = readFileSync(join(root, 'packages/cli/README.md'), 'utf8');
  expect(commandLines(ours).length).toBeGreaterThan(20);
});

test.each([
  'sallyport sesion list',
  'sallyport session rum x',
  'sallyport session list --limt 3',
  'sallyport-gateway nope',
  'sallyport-gateway admin usr',
  'sallyport-gateway start --prot 1',
])('%s would be found', async (line) => {
  expect(await fault(line.split(' '))).toBeDefined();
});
