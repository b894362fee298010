import { Help, InvalidArgumentError, Option, type Command } from 'commander';

/** The flags that every command takes: what they say wins over environment and file. */
export interface ConfigFlags {
  readonly config?: string;
  readonly host?: string;
  readonly port?: string;
  readonly dataDir?: string;
  readonly publicUrl?: string;
  readonly store?: string;
  readonly upstream?: string;
  readonly logLevel?: string;
  readonly set?: Readonly<Record<string, string>>;
}

/** Of commands that print a table for people: what programs get anyway. */
export const asJson = ['--json', 'as JSON, which it is anyway where it does not go to a terminal'] as const;

/** Of commands that list. */
export const limitedTo = (most: number) =>
  ['--limit <count>', 'at most so many', countTo(most), 100] as const;

function countTo(most: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (!Number.isInteger(count) || count < 1 || count > most)
      throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`);
    return count;
  };
}

const heading = 'Settings:';
/** What commands on the data have no use for, and take all the same. */
const ofServing = ['--host', '--port', '--log-level'];

/** Adds the flags of `ConfigFlags`. In the help they come after the command's own. */
export function configurable(command: Command): Command {
  const isOnData = Boolean(command.parent?.parent);
  const options = [
    new Option('--config <file>', 'a YAML or JSON file with settings'),
    new Option('--host <host>', 'where to listen (default 127.0.0.1)'),
    new Option('--port <port>', 'which port to listen on; 0 picks a free one (default 8787)'),
    new Option('--data-dir <dir>', 'where the store and the keys are'),
    new Option('--public-url <url>', 'the address under which clients reach the gateway'),
    new Option('--store <store>', 'sqlite:PATH (default: in the data directory)'),
    new Option(
      '--upstream <url>',
      'the service that everything passes through to, unless areas say otherwise',
    ),
    new Option('--log-level <level>', 'fatal, error, warn, info (default), debug, trace or silent'),
    new Option(
      '--set <key=value>',
      'any other setting, such as oauth.issParameter=false; repeatable',
    ).argParser(collectSetting),
  ];
  for (const option of options)
    command.addOption(option.helpGroup(heading).hideHelp(isOnData && ofServing.includes(option.long ?? '')));
  return command.configureHelp({ groupItems });
}

/** The settings last, though they were added first. */
const groupItems: Help['groupItems'] = (unsorted, visible, groupOf) => {
  const groups = new Help().groupItems(unsorted, visible, groupOf);
  const settings = groups.get(heading) ?? [];
  groups.delete(heading);
  return settings.length > 0 ? groups.set(heading, settings) : groups;
};

function collectSetting(assignment: string, previous: Record<string, string> = {}): Record<string, string> {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(assignment) ?? [];
  if (key === undefined || value === undefined) throw new InvalidArgumentError('It must be KEY=VALUE.');
  return { ...previous, [key]: value };
}
