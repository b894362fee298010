import { systemClock } from '@sallyport/core';
import { finalStatuses, type Session } from '@sallyport/core/contract';
import { sessionStatuses } from '@sallyport/core/session-statuses';
import { connectUnreported, loginStore } from '../../connect.ts';
import { createContext, type Context, type Surroundings } from '../../context.ts';
import { printable } from '../../io/printable.ts';
import type { Terminal } from '../../io/terminal.ts';
import { knownEnvironments, type KnownEnvironment } from '../known-environments.ts';
import type { Candidate, GivenFlags, NamedByGateway } from './complete.ts';

/** Somebody waits at the keyboard. */
const patienceMs = 500;
/** Before its end a login is renewed by whoever uses it. */
const renewalMs = 60_000;
/** The newest: more is no list to choose from. */
const mostIds = 50;

/** Asks the gateway of these settings, for half a second at most. Rejects where it gives none. */
export async function askForIds(
  kind: NamedByGateway,
  flags: GivenFlags,
  surroundings: Surroundings,
): Promise<readonly Candidate[]> {
  const late = new AbortController();
  const timer = systemClock.after(patienceMs, () => late.abort(), { keepAlive: true });
  const { signal } = late;
  const never = new Promise<never>((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(new Error('late')), { once: true }),
  );
  const interrupt = { asked: signal, insisted: signal, release: () => undefined };
  const { context, end } = createContext(flags, silent, interrupt, surroundings);
  try {
    return await Promise.race([never, ask()]);
  } finally {
    timer.cancel();
    await end();
  }

  async function ask(): Promise<readonly Candidate[]> {
    await requireFresh(context);
    const connection = await connectUnreported(context);
    return namesOf[kind](connection, signal);
  }
}

type Asking = Awaited<ReturnType<typeof connectUnreported>>;
type Names = (connection: Asking, signal: AbortSignal) => Promise<readonly Candidate[]>;

const query = { limit: mostIds } as const;
const openStatuses = sessionStatuses.filter((status) => !finalStatuses.includes(status));

const namesOf: Readonly<Record<NamedByGateway, Names>> = {
  session: async ({ client }, signal) => (await client.sessions.list({ query, signal })).map(session),
  'open session': async ({ client }, signal) => {
    const status = openStatuses.join(',');
    const sessions = await client.sessions.list({ query: { ...query, status }, signal });
    // A service of another make may not know the filter.
    return sessions.filter((each) => openStatuses.includes(each.status)).map(session);
  },
  environment: async (connection, signal) => {
    const known = (await knownEnvironments(connection, signal)).slice(0, mostIds);
    return [
      ...known.map(({ id, state, name, directory }) => candidate(id, `${state}: ${name} ${directory}`)),
      ...namesThatStandForOne(known),
    ];
  },
  key: async ({ client }, signal) => {
    const { api_keys: keys } = await client.oauth.listApiKeys({ signal });
    return keys.slice(0, mostIds).map(({ id, name, scope }) => candidate(id, name ?? scope));
  },
  device: async ({ client }, signal) => {
    const { trusted_devices: devices } = await client.devices.list({ signal });
    return devices.slice(0, mostIds).map(({ id, display_name }) => candidate(id, display_name));
  },
  member: async ({ client }, signal) =>
    (await client.admin.listPeople({ query, signal })).map(({ email, role }) => candidate(email, role)),
  "member's key": async ({ client }, signal) =>
    (await client.admin.listApiKeys({ query, signal })).map(({ id, account, name, scope }) =>
      candidate(id, `${account.email}: ${name ?? scope}`),
    ),
  "member's device": async ({ client }, signal) =>
    (await client.admin.listDevices({ query, signal })).map(({ id, account, display_name }) =>
      candidate(id, `${account.email}: ${display_name}`),
    ),
  "member's login": async ({ client }, signal) =>
    (await client.admin.listLogins({ query, signal })).map(({ id, account, client_name, client_id }) =>
      candidate(id, `${account.email}: ${client_name ?? client_id}`),
    ),
  "member's sign-in": async ({ client }, signal) =>
    (await client.admin.listSignIns({ query, signal })).map(({ id, account, created_at }) =>
      candidate(id, `${account.email}: ${created_at}`),
    ),
  client: async ({ client }, signal) =>
    (await client.admin.listClients({ query, signal })).map(({ client_id, client_name }) =>
      candidate(client_id, client_name),
    ),
};

function session({ id, status, title }: Session): Candidate {
  return candidate(id, `${status}: ${title}`);
}

/** A renewal must not be cut off half-way, and takes what time it takes: that is for the next command. */
async function requireFresh(context: Context): Promise<void> {
  if (context.settings.token !== undefined) return;
  const { store, loginKey } = loginStore(context);
  const stored = await store.load(loginKey);
  if (stored === undefined || stored.expiresAt - renewalMs <= context.clock.now())
    throw new Error('there is no login that holds');
}

/** Those that are a word to every shell. */
function namesThatStandForOne(known: readonly KnownEnvironment[]): readonly Candidate[] {
  return known.flatMap(({ id, name, directory }) => {
    const isOnly = known.every((each) => each.id === id || each.name !== name);
    return isOnly && /^[\w.-]+$/.test(name) ? [candidate(name, directory)] : [];
  });
}

function candidate(value: string, says: string): Candidate {
  return { value, says: printable(says) };
}

const ignore = () => undefined;
const silent: Terminal = {
  ...{ json: true, isForEyes: false, columns: 0 },
  ...{ out: ignore, result: ignore, note: ignore, err: ignore, status: ignore },
  widthOf: () => Infinity,
  onReaderGone: () => ignore,
  style: (_style, text) => text,
};
