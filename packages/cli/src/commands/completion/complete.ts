import type { Argument, Command, Option } from 'commander';

/** What may stand next. The value `:files` alone: names of files, which the shell knows best. */
export interface Candidate {
  readonly value: string;
  /** One line for the person. */
  readonly says: string;
}

type ProfileNames = () => readonly string[];

const files: readonly Candidate[] = [{ value: ':files', says: '' }];

/** The candidates for the last of `words`, from the tree of commands and the names of profiles. */
export function complete(
  program: Command,
  words: readonly string[],
  profileNames: ProfileNames,
): readonly Candidate[] {
  const word = words.at(-1) ?? '';
  const { command, taken, awaiting, onlyArguments } = walk(program, words.slice(0, -1));
  return candidates().filter(({ value }) => value === ':files' || value.startsWith(word));

  function candidates(): readonly Candidate[] {
    if (awaiting !== undefined) return valuesOf(awaiting, profileNames);
    const [, flag, given] = /^(--[^=]+)=(.*)$/.exec(word) ?? [];
    if (flag !== undefined && given !== undefined) {
      const option = flagOf(command, flag);
      return option?.required === true ? withFlag(flag, valuesOf(option, profileNames)) : [];
    }
    if (word.startsWith('-') && !onlyArguments) return flagsOf(command);
    const argument =
      command.registeredArguments[taken] ?? command.registeredArguments.findLast((each) => each.variadic);
    return [...subcommandsOf(command), ...(argument === undefined ? [] : valuesOf(argument, profileNames))];
  }
}

/** Follows the words before: into which command, past how many arguments, and whether a flag waits for its value. */
function walk(program: Command, words: readonly string[]) {
  let command = program;
  let taken = 0;
  let awaiting: Option | undefined;
  let onlyArguments = false;
  for (const word of words) {
    if (awaiting !== undefined) {
      awaiting = undefined;
    } else if (word === '--') {
      onlyArguments = true;
    } else if (word.startsWith('-') && !onlyArguments) {
      const option = flagOf(command, word);
      if (option?.required === true) awaiting = option;
    } else {
      const next = command.commands.find((each) => each.name() === word);
      if (next === undefined) taken += 1;
      else command = next;
    }
  }
  return { command, taken, awaiting, onlyArguments };
}

function subcommandsOf(command: Command): readonly Candidate[] {
  const visible = command.createHelp().visibleCommands(command);
  return visible.map((each) => ({ value: each.name(), says: each.description() }));
}

function flagsOf(command: Command): readonly Candidate[] {
  return optionsOf(command).flatMap(({ long, description }) =>
    typeof long !== 'string' ? [] : [{ value: long, says: description }],
  );
}

function flagOf(command: Command, word: string): Option | undefined {
  return optionsOf(command).find(({ long, short }) => long === word || short === word);
}

/** With those of the commands above, which hold below too, and `--help`. */
function optionsOf(command: Command): readonly Option[] {
  const help = command.createHelp();
  return [...help.visibleOptions(command), ...(command.parent === null ? [] : ofParents(command.parent))];
}

function ofParents(command: Command): readonly Option[] {
  return [...command.options, ...(command.parent === null ? [] : ofParents(command.parent))];
}

function valuesOf(taking: Option | Argument, profileNames: ProfileNames): readonly Candidate[] {
  const name = 'flags' in taking ? taking.flags : taking.name();
  const known = taking.argChoices ?? (/profile/.test(name) ? profileNames() : undefined);
  if (known !== undefined) return known.map((value) => ({ value, says: '' }));
  return /dir|file|path/i.test(name) ? files : [];
}

function withFlag(flag: string, values: readonly Candidate[]): readonly Candidate[] {
  return values === files ? files : values.map(({ value, says }) => ({ value: `${flag}=${value}`, says }));
}
