import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createProgram, runProgram } from './program.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'sallyport-options-'));
  vi.stubEnv('SALLYPORT_CONFIG_DIR', directory);
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true, force: true });
});

/** What takes any text, or names what only the gateway or the disk knows. */
const free =
  /<(name|part|title|tag|text|command|directory|scope|key|file|uri|who|environment|request)(\.\.\.)?>|--session <id>/;

const leaves = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
const pathOf = (command: Command): string[] =>
  command.parent === null ? [] : [...pathOf(command.parent), command.name()];
const program = createProgram(() => undefined);
const constrained = leaves(program).flatMap((command) =>
  [...command.options, ...(command.name() === 'whoami' ? program.options : [])]
    .filter(({ required, flags }) => required && !free.test(flags))
    .map((option) => [[...pathOf(command), option.long].join(' '), command, option] as const),
);

/** How the command refuses `text` as the value of its option, and nothing else. */
async function refusal(command: Command, { long }: Option, text: string) {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const silent = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    const needed = command.registeredArguments.filter(({ required }) => required).map(() => 'x');
    const args = command.name() === 'api' ? ['/x'] : needed;
    const mandatory = command.options.filter((each) => each.mandatory).map((each) => `${each.long}=x`);
    const given = [...args, ...mandatory, long ?? '', text];
    const exitCode = await runProgram([...pathOf(command), ...given, '--json']);
    return { exitCode, ...(JSON.parse(String(write.mock.lastCall?.[0])) as Record<string, unknown>) };
  } finally {
    write.mockRestore();
    silent.mockRestore();
  }
}

test.each(constrained)('%s is refused by its name, with what was given', async (_path, command, option) => {
  expect(await refusal(command, option, 'zz!')).toEqual({
    exitCode: 2,
    error: expect.any(String) as string,
    error_description: expect.stringMatching(new RegExp(`${option.long}\\b.*zz!`)) as string,
    next_step: expect.any(String) as string,
  });
});
