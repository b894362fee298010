import { systemClock } from '@sallyport/core';
import { connectUnreported, loginStore } from '../../connect.ts';
import { createContext, type Context } from '../../context.ts';
import { printable } from '../../io/printable.ts';
import type { Terminal } from '../../io/terminal.ts';
import { knownEnvironments, type KnownEnvironment } from '../known-environments.ts';
import type { Candidate, GivenFlags, Named } from './complete.ts';

/** Somebody waits at the keyboard. */
const patienceMs = 500;
/** Before its end a login is renewed by whoever uses it. */
const renewalMs = 60_000;
/** The newest: more is no list to choose from. */
const mostIds = 50;

/** Asks the gateway of these settings, for half a second at most. Rejects where it gives none. */
export async function askForIds(
  kind: Exclude<Named, 'profile'>,
  flags: GivenFlags,
): Promise<readonly Candidate[]> {
  const late = new AbortController();
  const timer = systemClock.after(patienceMs, () => late.abort(), { keepAlive: true });
  const { signal } = late;
  const never = new Promise<never>((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(new Error('late')), { once: true }),
  );
  const interrupt = { asked: signal, insisted: signal, release: () => undefined };
  const { context, end } = createContext(flags, silent, interrupt);
  try {
    return await Promise.race([never, ask()]);
  } finally {
    timer.cancel();
    await end();
  }

  async function ask(): Promise<readonly Candidate[]> {
    await requireFresh(context);
    const connection = await connectUnreported(context);
    switch (kind) {
      case 'session': {
        const sessions = await connection.client.sessions.list({ query: { limit: mostIds }, signal });
        return sessions.map(({ id, status, title }) => candidate(id, `${status}: ${title}`));
      }
      case 'environment': {
        const known = (await knownEnvironments(connection, signal)).slice(0, mostIds);
        return [
          ...known.map(({ id, state, name, directory }) => candidate(id, `${state}: ${name} ${directory}`)),
          ...namesOf(known),
        ];
      }
    }
  }
}

/** A renewal must not be cut off half-way, and takes what time it takes: that is for the next command. */
async function requireFresh(context: Context): Promise<void> {
  if (context.settings.token !== undefined) return;
  const { store, loginKey } = loginStore(context);
  const stored = await store.load(loginKey);
  if (stored === undefined || stored.expiresAt - renewalMs <= context.clock.now())
    throw new Error('there is no login that holds');
}

/** Names that stand for one environment, and are a word to every shell. */
function namesOf(known: readonly KnownEnvironment[]): readonly Candidate[] {
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
  onReaderGone: () => ignore,
  style: (_style, text) => text,
};
