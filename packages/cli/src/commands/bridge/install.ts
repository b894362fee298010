import { mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import type { Output } from '../../io/terminal.ts';
import { environmentNamed } from '../environment-named.ts';
import { isWholeId } from '../meant.ts';
import { neededCommand } from './needed-command.ts';
import { runWords, type BridgeRunOptions } from './run-options.ts';
import { unitOf, unitText } from './unit.ts';

export interface BridgeInstallOptions extends BridgeRunOptions {
  readonly print?: boolean;
}

/** Writes a systemd user unit that keeps a bridge running; the person starts it. */
export async function bridgeInstall(context: Context, options: BridgeInstallOptions): Promise<Output> {
  const { settings, terminal } = context;
  const exec = neededCommand(options.exec, 'sallyport bridge install');
  const directory = resolve(options.dir);
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory())
    throw new CommandError(
      'invalid_directory',
      `There is no directory ${directory}.`,
      exitCodes.usage,
      'Name one that exists: --dir DIRECTORY',
    );
  const env = await wholeId(context, options.env);
  const program = [process.execPath, realpathSync(process.argv[1] ?? '')];
  const words = [
    ...program,
    // A profile has a login of its own, which its address alone does not lead to.
    ...(settings.profile === undefined ? ['--base-url', settings.baseUrl] : ['--profile', settings.profile]),
    ...['bridge', 'run'],
    ...runWords({ ...options, exec, dir: directory, ...(env !== undefined && { env }) }),
  ];
  const text = unitText(context, { directory, words });
  const { name, file } = unitOf(context, directory);
  const json = { unit: name, file, text };
  if (options.print === true) return { json, human: text.trimEnd() };
  if (process.platform !== 'linux')
    throw new CommandError(
      'not_supported',
      'There is no systemd on this system.',
      exitCodes.usage,
      'See the command that its own service manager would run: sallyport bridge install --print',
    );
  if (context.env['SALLYPORT_TOKEN'])
    terminal.note(
      'SALLYPORT_TOKEN is not written into the unit: the bridge uses the login of `sallyport login`.',
    );
  const isReplaced = wasThere(file);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  const human = [
    `${isReplaced ? 'Replaced' : 'Wrote'} ${file}.`,
    `Start it, now and at each login:\n  systemctl --user daemon-reload\n  systemctl --user ${isReplaced ? 'restart' : 'enable --now'} ${name}`,
    `Have it run while you are logged out, too:\n  loginctl enable-linger`,
    `See what it says:\n  journalctl --user --unit ${name} --follow`,
  ].join('\n');
  return { json: { ...json, replaced: isReplaced }, human };
}

/** A name may come to mean another environment later; only what is no whole id needs the gateway. */
async function wholeId(context: Context, given: string | undefined): Promise<string | undefined> {
  if (given === undefined || isWholeId('env', given)) return given;
  return environmentNamed(await connect(context), given, context.interrupt.asked);
}

function wasThere(file: string): boolean {
  try {
    return readFileSync(file).length > 0;
  } catch {
    return false;
  }
}
