import type { Command, CommanderError } from 'commander';

/** Lets each command refuse in the program's own form: one sentence, and the help that knows better. */
export function refuseClearly(program: Command): void {
  for (const command of withDescendants(program))
    command.configureOutput({ outputError: () => undefined }).exitOverride((error) => {
      if (isRefusal(error))
        process.stderr.write(`sallyport-gateway: ${sentenceOf(error)}\nSee: ${pathOf(command)} --help\n`);
      throw error;
    });
}

/** Neither help nor version: those are on the screen already. */
function isRefusal({ code, exitCode }: CommanderError): boolean {
  return exitCode !== 0 && code !== 'commander.help';
}

/** `error: unknown option '--prot'\n(Did you mean --port?)` */
function sentenceOf({ message }: CommanderError): string {
  const text = message
    .replace(/^error: /, '')
    .replace(/\n\((Did you mean [^)]*)\)$/, '. $1')
    .replace(' is invalid. ', ' is invalid: ');
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(sentence) ? sentence : `${sentence}.`;
}

function withDescendants(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withDescendants)];
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
