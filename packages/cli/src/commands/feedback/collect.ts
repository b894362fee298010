import { statSync } from 'node:fs';
import { release } from 'node:os';
import { basename, resolve } from 'node:path';
import { localBridges } from '@sallyport/bridge';
import type { BundleSource } from '@sallyport/telemetry/feedback';
import type { Session } from '@sallyport/core/contract';
import type { Connection } from '../../connect.ts';
import { resolveSettings, type ResolvedSettings } from '../../config/resolve.ts';
import { readSources } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { version } from '../../version.ts';
import { sessionEvents } from '../session/follow.ts';
import { sessionsNamed } from '../session/named.ts';
import { ownAccount } from '../session/started-by.ts';
import { spoolOf } from '../telemetry/spool.ts';

/** What a person asks to be in a bundle. */
export interface CollectOptions {
  readonly collect?: boolean;
  readonly session: readonly string[];
  readonly file: readonly string[];
}

/** As many of the last sessions as a person remembers. */
const lastSessions = 3;

/** What goes into a bundle, without secrets being taken out yet. */
export async function collectSources(
  context: Context,
  connection: Connection,
  { collect = false, session, file }: CollectOptions,
): Promise<readonly BundleSource[]> {
  const { settings, env, flags } = context;
  const sources = [
    json('versions.json', {
      sallyport: version,
      node: process.version,
      platform: `${process.platform} ${release()} ${process.arch}`,
      gateway: settings.baseUrl,
      organization: connection.organizationId,
    }),
    json('settings.json', settingsList(resolveSettings(readSources(flags, env)))),
    ...file.map((path, index): BundleSource => {
      const modifiedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? context.clock.now();
      return { name: `files/${index + 1}-${basename(path)}`, path: resolve(path), modifiedAt };
    }),
  ];
  const ids = await sessionsNamed(connection, session, context.interrupt.asked);
  const sessions = ids.map((id) => ({ id, updatedAt: context.clock.now() }));
  if (collect) {
    sources.push(json('bridges.json', localBridges(settings.stateDir)), waitingTelemetry(context));
    if (sessions.length === 0) sessions.push(...(await latestSessions(context, connection)));
  }
  return [...sources, ...sessions.map((each) => eventsOf(context, connection, each))];
}

/** Not by their names: `credential-store` would be taken for a secret. None of them is one. */
function settingsList(resolved: ResolvedSettings): object {
  return Object.entries(resolved).map(([setting, { value = null, ...from }]) => ({
    setting,
    value,
    ...from,
  }));
}

function json(name: string, value: unknown): BundleSource {
  return { name, lines: () => linesOf(JSON.stringify(value, null, 2).split('\n')) };
}

function waitingTelemetry(context: Context): BundleSource {
  const { spool } = spoolOf(context);
  return { name: 'telemetry.ndjson', lines: () => linesOf(spool.peek()), modifiedAt: context.clock.now() };
}

/** The person's own: what colleagues did is theirs to send. Where the service does not say whose they are, the last ones. */
async function latestSessions(context: Context, connection: Connection) {
  const own = await ownAccount(context, connection);
  const sessions = await connection.client.sessions.list({
    query: { limit: lastSessions, ...(own !== undefined && { account_id: own }) },
    signal: context.interrupt.asked,
  });
  const isOwn = ({ account }: Session) => own === undefined || account === undefined || account.id === own;
  return sessions.filter(isOwn).map(({ id, updated_at }) => ({ id, updatedAt: Date.parse(updated_at) }));
}

function eventsOf(
  context: Context,
  connection: Connection,
  { id, updatedAt }: { readonly id: string; readonly updatedAt: number },
): BundleSource {
  const signal = context.interrupt.asked;
  async function* lines(): AsyncIterable<string> {
    const events = sessionEvents(context, connection, { sessionId: id, until: 'now', signal });
    // What a session changed in somebody's repository explains no fault of ours.
    for await (const event of events) if (event.type !== 'worker.patch') yield JSON.stringify(event);
  }
  return { name: `sessions/${id}.ndjson`, lines, modifiedAt: updatedAt };
}

async function* linesOf(lines: readonly string[]): AsyncIterable<string> {
  yield* lines;
}
