import { keyNamed, keyNames } from '../../config/keys.ts';
import { resolveSettings, type Resolved } from '../../config/resolve.ts';
import { foldersOf, readSources } from '../../config/settings.ts';
import { userFilePath } from '../../config/files.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';

export interface ConfigShowOptions {
  readonly showOrigin?: boolean;
}

export async function configList(
  context: Context,
  { showOrigin = false }: ConfigShowOptions,
): Promise<Output> {
  const resolved = resolveSettings(readSources(context.flags, context.env));
  const rows = keyNames.map((key) => {
    const { value, origin, from } = resolved[key];
    const shown = [key, value ?? '-'];
    return showOrigin
      ? [...shown, value === undefined ? '' : origin, value === undefined ? '' : from]
      : shown;
  });
  return {
    json: Object.fromEntries(keyNames.map((key) => [key, withOrigin(resolved[key], showOrigin)])),
    human: table(
      showOrigin ? ['KEY', 'VALUE', 'ORIGIN', 'FROM'] : ['KEY', 'VALUE'],
      rows,
      context.terminal.widthOf('out'),
    ),
  };
}

export async function configGet(
  context: Context,
  { showOrigin = false }: ConfigShowOptions,
  name: string,
): Promise<Output> {
  const key = keyNamed(name);
  const resolved = resolveSettings(readSources(context.flags, context.env))[key];
  if (resolved.value === undefined) {
    throw new CommandError(
      'not_set',
      `${key} has no value.`,
      exitCodes.notFound,
      `Give it one: sallyport config set ${key} VALUE`,
    );
  }
  const { value, origin, from } = resolved;
  return {
    json: { key, value, ...(showOrigin && { origin, from }) },
    human: showOrigin ? `${value}\t${origin}\t${from}` : value,
  };
}

export async function configPath({ env }: Context): Promise<Output> {
  const path = userFilePath(foldersOf(env).configDir);
  return { json: { path }, human: path };
}

function withOrigin(
  { value = null, origin, from }: { value?: string | null | undefined } & Omit<Resolved, 'value'>,
  showOrigin: boolean,
) {
  return showOrigin ? { value, origin, from } : value;
}
