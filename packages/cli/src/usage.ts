import { didYouMean } from '@sallyport/core';
import type { Command, CommanderError } from 'commander';
import { CommandError, exitCodes } from './io/exit.ts';

/** How a person types the command: `sallyport session run`. */
export function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
}

/** Wrong usage of `command`, with the help that knows better. */
function usageError(command: Command, message: string): CommandError {
  return new CommandError('usage', message, exitCodes.usage, `See: ${commandPath(command)} --help`);
}

/** An option that is there with nothing in it is a variable of a script that is unset: no command has a use for one. */
export function refuseEmptyOptions(command: Command): void {
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const empty = at.options.find((option) => isEmpty(at.getOptionValue(option.attributeName())));
    if (empty !== undefined) throw usageError(command, `The value of ${empty.long ?? empty.flags} is empty.`);
  }
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isEmpty) : typeof value === 'string' && value.trim() === '';
}

/** Commander's refusal as one sentence of ours: `error: unknown option '--limt'\n(Did you mean --limit?)`. */
export function fromCommander(command: Command, { code, message }: CommanderError): CommandError {
  if (code === 'commander.help') return usageError(command, `Which command of \`${commandPath(command)}\`?`);
  const text = message
    .replace(/^error: /, '')
    .replace(/\n\((Did you mean [^)]*)\)$/, '. $1')
    .replace(' is invalid. ', ' is invalid: ');
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return usageError(command, /[.?!]$/.test(sentence) ? sentence : `${sentence}.`);
}

/** `name` is no command of `group`. */
export function unknownCommand(group: Command, name: string): CommandError {
  const names = group
    .createHelp()
    .visibleCommands(group)
    .map((command) => command.name());
  const suggestion = didYouMean(name, names, (meant) => `\`${commandPath(group)} ${meant}\``) ?? '';
  return usageError(group, `Unknown command '${name}'. ${suggestion}`.trim());
}
