import { InvalidArgumentError, type Command } from 'commander';

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

/** Adds the flags of `ConfigFlags`. */
export function configurable(command: Command): Command {
  return command
    .option('--config <file>', 'a YAML or JSON file with settings')
    .option('--host <host>', 'where to listen (default 127.0.0.1)')
    .option('--port <port>', 'which port to listen on; 0 picks a free one (default 8787)')
    .option('--data-dir <dir>', 'where the store and the keys are')
    .option('--public-url <url>', 'the address under which clients reach the gateway')
    .option('--store <store>', 'sqlite:PATH (default: in the data directory)')
    .option('--upstream <url>', 'the service that everything passes through to, unless areas say otherwise')
    .option('--log-level <level>', 'fatal, error, warn, info (default), debug, trace or silent')
    .option(
      '--set <key=value>',
      'any other setting, such as oauth.issParameter=false; repeatable',
      collectSetting,
    );
}

/** What a command that works on the same store as this one has to be given, with a space before it. */
export function sameStore({ config, dataDir, store }: ConfigFlags): string {
  const given = Object.entries({ '--config': config, '--data-dir': dataDir, '--store': store });
  return given.map(([flag, value]) => (value === undefined ? '' : ` ${flag} ${quoted(value)}`)).join('');
}

/** ... and one that finds the same upstreams. Callers see it: an address may carry a password. */
export function sameUpstreams({ store: _, ...flags }: ConfigFlags): string {
  return sameStore(flags);
}

function quoted(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function collectSetting(assignment: string, previous: Record<string, string> = {}): Record<string, string> {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(assignment) ?? [];
  if (key === undefined || value === undefined) throw new InvalidArgumentError('It must be KEY=VALUE.');
  return { ...previous, [key]: value };
}
