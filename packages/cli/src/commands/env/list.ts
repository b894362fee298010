import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { ago } from '../../io/ago.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import { accountName } from '../account-name.ts';
import type { EnvironmentKind, EnvironmentState } from '../environment-states.ts';
import { knownEnvironments, type KnownEnvironment } from '../known-environments.ts';
import { hasOthers } from '../others.ts';
import { startABridge } from '../start-a-bridge.ts';
import { take, type TakeOptions } from '../take.ts';

export interface EnvListOptions extends TakeOptions {
  readonly name?: string;
  readonly kind?: EnvironmentKind;
  readonly state: readonly EnvironmentState[];
  readonly online?: boolean;
  readonly tag: readonly string[];
}

const start =
  "Start a bridge: sallyport bridge run --exec 'CMD'\nOr make one for later: sallyport env create --name NAME --dir DIRECTORY";

/** Lists what a session can run on, and what is archived; those of bridges that were not seen for a week the service leaves out. */
export async function envList(context: Context, options: EnvListOptions): Promise<Output> {
  const connection = await connect(context);
  const { name } = options;
  const known = await knownEnvironments(connection, context.interrupt.asked, { name });
  const wanted = known.filter((each) => isWanted(each, options));
  const environments = await take(context, options, async function* () {
    yield wanted;
  });
  const now = context.clock.now();
  const isOfOthers = !context.terminal.json && (await hasOthers(context, connection, environments));
  if (known.length === 0 && name === undefined && !context.terminal.json) {
    const next = await startABridge(connection, start, context.interrupt.asked);
    return { json: [], human: `No environments yet.\n${next}` };
  }
  const human =
    environments.length > 0
      ? table(
          headerFor(isOfOthers),
          environments.map((each) => rowOf(each, { now, isOfOthers })),
          context.terminal.widthOf('out'),
        )
      : 'No environment matches.\nSee all: sallyport env list --all';
  return { json: environments.map(toJson), human };
}

function isWanted(
  { kind, state, tags }: KnownEnvironment,
  { kind: wantedKind, state: states, online = false, tag: wantedTags }: EnvListOptions,
): boolean {
  return (
    (wantedKind === undefined || kind === wantedKind) &&
    (states.length === 0 || states.includes(state)) &&
    (!online || state === 'online') &&
    wantedTags.every((tag) => tags.includes(tag))
  );
}

function headerFor(isOfOthers: boolean): readonly string[] {
  const whose = isOfOthers ? ['WHOSE'] : [];
  return ['ID', 'NAME', ...whose, 'KIND', 'STATE', 'LAST SEEN', 'SESSIONS', 'TAGS', 'DIRECTORY'];
}

function rowOf(
  environment: KnownEnvironment,
  { now, isOfOthers }: { readonly now: number; readonly isOfOthers: boolean },
): readonly string[] {
  const { id, name, kind, state, tags, directory, bridge } = environment;
  const whose = isOfOthers ? [accountName(environment) || '-'] : [];
  return [
    ...[id, name, ...whose, kind, state],
    bridge === undefined ? '-' : ago(bridge.last_seen_at, now),
    bridge === undefined ? '-' : String(bridge.active_sessions),
    tags.join(',') || '-',
    directory,
  ];
}

/** What the service's lists say of it, and what this list makes of that. */
function toJson({ id, kind, state, tags, managed, bridge }: KnownEnvironment): object {
  return { ...managed, ...bridge, id, kind, state, tags };
}
