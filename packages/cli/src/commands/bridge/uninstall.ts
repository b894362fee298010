import { existsSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import type { Output } from '../../io/terminal.ts';
import { unitOf } from './unit.ts';

/** Removes the unit that `bridge install` wrote for a directory; what runs of it the person ends. */
export async function bridgeUninstall(context: Context, { dir }: { readonly dir: string }): Promise<Output> {
  const { name, file } = unitOf(context, resolve(dir));
  if (!existsSync(file))
    throw new CommandError(
      'not_installed',
      `No bridge is installed for ${resolve(dir)}: there is no ${file}.`,
      exitCodes.notFound,
      "Install one: sallyport bridge install --exec 'CMD'",
    );
  rmSync(file);
  // What `systemctl enable` made of it.
  rmSync(join(dirname(file), 'default.target.wants', name), { force: true });
  const human = [
    `Removed ${file}.`,
    `End what still runs of it:\n  systemctl --user stop ${name}\n  systemctl --user daemon-reload`,
  ].join('\n');
  return { json: { unit: name, file, removed: true }, human };
}
