import type { Argument, Command, Option } from 'commander';
import type { SettingsFlags } from '../../config/settings.ts';

/** What may stand next. The value `:files` alone: names of files, which the shell knows best. */
export interface Candidate {
  readonly value: string;
  /** One line for the person. */
  readonly says: string;
}

/** What only the gateway knows the values of. */
export type NamedByGateway =
  | 'session'
  | 'open session'
  | 'environment'
  | 'key'
  | 'device'
  | 'member'
  | `member's ${'key' | 'device' | 'login' | 'sign-in'}`
  | 'client';

/** ... and this machine. */
export type Named = 'profile' | NamedByGateway;

/** What the ids are of, by the group of commands that take them. */
const idsByGroup: Readonly<Record<string, Named>> = {
  session: 'session',
  env: 'environment',
  keys: 'key',
  device: 'device',
  'admin keys': "member's key",
  'admin devices': "member's device",
  'admin logins': "member's login",
  'admin sign-ins': "member's sign-in",
  'admin clients': 'client',
};
/** Those for a session that has not ended. */
const forOpenSessions: readonly string[] = ['approve', 'requests', 'send', 'stop'];

/** The settings that the words before give: the values are of that gateway. */
export type GivenFlags = Pick<SettingsFlags, 'baseUrl' | 'profile'>;

/** The values of that kind that there are. */
export type ValuesNamed = (kind: Named, flags: GivenFlags) => Promise<readonly Candidate[]>;

const files: readonly Candidate[] = [{ value: ':files', says: '' }];

/** The candidates for the last of `words`, from the tree of commands and what `valuesNamed` knows. */
export async function complete(
  program: Command,
  words: readonly string[],
  valuesNamed: ValuesNamed,
): Promise<readonly Candidate[]> {
  const word = words.at(-1) ?? '';
  const { command, taken, awaiting, onlyArguments, flags } = walk(program, words.slice(0, -1));
  const valuesOf = async (taking: Option | Argument): Promise<readonly Candidate[]> => {
    if (taking.argChoices) return taking.argChoices.map((value) => ({ value, says: '' }));
    const kind = kindOf(taking, command);
    if (kind !== undefined) return valuesNamed(kind, flags);
    return /dir|file|path/i.test(nameOf(taking)) ? files : [];
  };
  const found = await candidates();
  return found.filter(({ value }) => value === ':files' || value.startsWith(word));

  async function candidates(): Promise<readonly Candidate[]> {
    if (awaiting !== undefined) return valuesOf(awaiting);
    const [, flag, given] = /^(--[^=]+)=(.*)$/.exec(word) ?? [];
    if (flag !== undefined && given !== undefined) {
      const option = flagOf(command, flag);
      return option?.required === true ? withFlag(flag, await valuesOf(option)) : [];
    }
    if (word.startsWith('-') && !onlyArguments) return flagsOf(command);
    const argument =
      command.registeredArguments[taken] ?? command.registeredArguments.findLast((each) => each.variadic);
    return [...subcommandsOf(command), ...(argument === undefined ? [] : await valuesOf(argument))];
  }
}

/** Follows the words before: into which command, past how many arguments, and whether a flag waits for its value. */
function walk(program: Command, words: readonly string[]) {
  let command = program;
  let taken = 0;
  let awaiting: Option | undefined;
  let onlyArguments = false;
  let flags: GivenFlags = {};
  const give = ({ long }: Option, value: string) => {
    if (long === '--base-url') flags = { ...flags, baseUrl: value };
    if (long === '--profile') flags = { ...flags, profile: value };
  };
  for (const word of words) {
    if (awaiting !== undefined) {
      give(awaiting, word);
      awaiting = undefined;
    } else if (word === '--') {
      onlyArguments = true;
    } else if (word.startsWith('-') && !onlyArguments) {
      const [flag = '', ...value] = word.split('=');
      const option = flagOf(command, flag);
      if (option?.required !== true) continue;
      if (value.length > 0) give(option, value.join('='));
      else awaiting = option;
    } else {
      const next = command.commands.find((each) => each.name() === word);
      if (next === undefined) taken += 1;
      else command = next;
    }
  }
  return { command, taken, awaiting, onlyArguments, flags };
}

function nameOf(taking: Option | Argument): string {
  return 'flags' in taking ? taking.flags : taking.name();
}

/** By what it is called, and in which group of commands. */
function kindOf(taking: Option | Argument, command: Command): Named | undefined {
  const name = nameOf(taking);
  if (/profile/.test(name)) return 'profile';
  if (name === 'session' || /^--session /.test(name)) return 'session';
  if (name === 'environment' || /^--env /.test(name)) return 'environment';
  if (name === 'who') return 'member';
  if (name !== 'id') return undefined;
  const kind = idsByGroup[groupOf(command)];
  return kind === 'session' && forOpenSessions.includes(command.name()) ? 'open session' : kind;
}

/** `admin keys` of `sallyport admin keys revoke`. */
function groupOf({ parent }: Command): string {
  return parent === null || parent.parent === null ? '' : `${groupOf(parent)} ${parent.name()}`.trim();
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

function withFlag(flag: string, values: readonly Candidate[]): readonly Candidate[] {
  return values === files ? files : values.map(({ value, says }) => ({ value: `${flag}=${value}`, says }));
}
