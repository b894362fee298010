import { fileURLToPath } from 'node:url';
import { CommanderError, Help, type AddHelpTextContext, type Command, type Option } from 'commander';
import { exitCodeMeanings, exitCodes } from './io/exit.ts';
import { fromCommander, unknownCommand } from './usage.ts';

const exitCodeWords = Object.entries(exitCodes).map(
  ([name, code]) => `${code} ${exitCodeMeanings[name as keyof typeof exitCodes]}`,
);
const exitCodeLines = `Exit codes: ${exitCodeWords.slice(0, 5).join(', ')},
            ${exitCodeWords.slice(5).join(', ')}`;

/** The page that this installation came with: it is of the same version, and needs no network. */
const page = new URL('../README.md', import.meta.url);

/** Shows how a command is used, at the end of its help. */
export function examples(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`);
}

/** Once all commands are there: what the help of each one has, and how each refuses. */
export function finishHelp(program: Command): void {
  for (const command of withDescendants(program)) {
    command
      .configureHelp({ showGlobalOptions: command !== program, optionDescription })
      .configureOutput({ outputError: () => undefined }) // `runProgram` tells it, in the form asked for
      .exitOverride((error) => {
        throw isAskedFor(error) ? error : fromCommander(command, error);
      })
      .addHelpText('after', `\n${exitCodeLines}\nDocumentation: ${fileURLToPath(page)}`);
    if (command.commands.length > 0) addHelpCommand(command);
  }
  program.addHelpText('beforeAll', refuseUnknownTopic);
}

/** That an option which may be repeated begins with none goes without saying. */
function optionDescription(option: Option): string {
  return new Help().optionDescription(option).replace(/ \(default: \[\]\)$/, '');
}

/** Help or version: what was wanted is on stdout. */
export function isAskedFor(error: unknown): boolean {
  return error instanceof CommanderError && error.exitCode === 0;
}

function withDescendants(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withDescendants)];
}

/** Commander's own `help` shows the general help for a topic that it does not know, and stops at the first level. */
function addHelpCommand(group: Command): void {
  group
    .helpCommand(false)
    .command('help', { hidden: group.parent !== null })
    .description('Show the help of a command')
    .argument('[command...]', 'such as: session run')
    .exitOverride((error) => {
      throw isAskedFor(error) ? error : fromCommander(group, error);
    })
    .action((names: readonly string[]) => {
      const found = names.reduce(subcommand, group);
      found.outputHelp();
    });
}

function subcommand(group: Command, name: string): Command {
  const found = group.commands.find((command) => command.name() === name);
  if (found === undefined) throw unknownCommand(group, name);
  return found;
}

/** `sallyport nope --help`: commander looks for `--help` before it looks whether there is such a command. */
function refuseUnknownTopic({ command }: AddHelpTextContext): string {
  const [name] = command.args;
  if (command.commands.length > 0 && name !== undefined && !name.startsWith('-')) subcommand(command, name);
  return '';
}
