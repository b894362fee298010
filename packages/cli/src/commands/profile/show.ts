import { chosenProfile, profileNamed } from '../../config/resolve.ts';
import { readSources } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { pairs, table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';

export async function profileList(context: Context): Promise<Output | undefined> {
  const sources = readSources(context.flags, context.env);
  const { value: used } = chosenProfile(sources);
  const profiles = Object.entries(sources.user.profiles).map(([name, profile]) => ({
    name,
    ...profile,
    in_use: name === used,
  }));
  const rows = profiles.map(({ name, in_use, ...profile }) => [
    in_use ? '*' : '',
    name,
    profile['base-url'] ?? '-',
    profile.organization ?? '-',
  ]);
  if (rows.length === 0 && !context.terminal.json) {
    context.terminal.note('There are no profiles. Add one: sallyport profile add NAME --base-url URL');
    return undefined;
  }
  return {
    json: profiles,
    human: table(['', 'NAME', 'BASE-URL', 'ORGANIZATION'], rows, context.terminal.widthOf('out')),
  };
}

export async function profileShow(context: Context, _options: object, argument?: string): Promise<Output> {
  const sources = readSources(context.flags, context.env);
  const name = argument ?? chosenProfile(sources).value;
  if (name === undefined) {
    throw new CommandError(
      'no_profile',
      'No profile is in use.',
      exitCodes.notFound,
      'Name one, or use one: sallyport profile use NAME',
    );
  }
  const profile = profileNamed(sources.user, name);
  return { json: { name, ...profile }, human: pairs([['name', name], ...Object.entries(profile)]) };
}
