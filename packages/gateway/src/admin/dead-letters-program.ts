import { InvalidArgumentError, type Command } from 'commander';
import type { WhichLetters } from './dead-letters.ts';
import { configurable, limitedTo, type ConfigFlags } from './flags.ts';

/** `admin telemetry dead-letters ...`. */
export function addDeadLetterCommands(letters: Command): void {
  const load = () => import('./dead-letters.ts');

  configurable(letters.command('list'))
    .description('Prints them as JSON, in the order in which they were put aside.')
    .option(...limitedTo(1000))
    .action(async (flags: ConfigFlags & { limit: number }) => (await load()).listDeadLetters(flags));

  some(letters.command('retry'), 'every one of them')
    .description('Puts them at the end of what waits: a gateway that runs sends them within seconds.')
    .action(async (ids: number[], flags: ConfigFlags & { all?: boolean }, command: Command) =>
      (await load()).retryDeadLetters(which(ids, flags, command), flags),
    );

  some(letters.command('drop'), 'every one of them')
    .description('Removes them for good.')
    .action(async (ids: number[], flags: ConfigFlags & { all?: boolean }, command: Command) =>
      (await load()).dropDeadLetters(which(ids, flags, command), flags),
    );
}

function some(command: Command, all: string): Command {
  return configurable(command).argument('[ids...]', 'as the list has them', toIds).option('--all', all);
}

function which(ids: readonly number[], { all = false }: { all?: boolean }, command: Command): WhichLetters {
  if (all === ids.length > 0) command.error('error: give the ids of dead letters, or --all');
  return all ? 'all' : ids;
}

function toIds(text: string, before: readonly number[] = []): number[] {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return [...before, Number(text)];
}
