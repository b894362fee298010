import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../program.ts';

function found(...names: readonly string[]): Command {
  const at = (group: Command, name: string) => {
    const command = group.commands.find((each) => each.name() === name);
    if (!command) throw new Error(`there is no ${name}`);
    return command;
  };
  return names.reduce(at, createProgram());
}
const flagsShown = (command: Command) =>
  [...command.helpInformation().matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag);

test('the help of a command that does one act has its own options first, then the settings', () => {
  expect(flagsShown(found('admin', 'user', 'add'))).toEqual([
    ...['--org', '--role', '--password-stdin', '--json', '--help'],
    ...['--config', '--data-dir', '--public-url', '--store', '--upstream', '--set'],
  ]);
  expect(flagsShown(found('start'))).toContain('--port');
});

test('no command of `admin` shows how to serve; each takes those flags all the same', () => {
  const descendants = (command: Command): readonly Command[] =>
    command.commands.flatMap(descendants).concat(command);
  const all = descendants(found('admin'));
  expect(all.length).toBeGreaterThan(20);
  for (const command of all) expect(flagsShown(command), command.name()).not.toContain('--port');
  expect(found('admin', 'rotate-keys').options.map(({ long }) => long)).toContain('--port');
});
