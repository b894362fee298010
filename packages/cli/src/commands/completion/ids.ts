import { systemClock } from '@sallyport/core';
import { connectUnreported, loginStore } from '../../connect.ts';
import { createContext, type Context } from '../../context.ts';
import { printable } from '../../io/printable.ts';
import type { Terminal } from '../../io/terminal.ts';
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
    const { client, organizationId } = await connectUnreported(context);
    const query = { limit: mostIds };
    switch (kind) {
      case 'session': {
        const sessions = await client.sessions.list({ query, signal });
        return sessions.map(({ id, status, title }) => candidate(id, `${status}: ${title}`));
      }
      case 'environment': {
        const params = { org_uuid: organizationId };
        const { environments } = await client.bridge.list({ params, query, signal });
        return environments.map(({ environment_id: id, status, machine_name: name, directory }) =>
          candidate(id, `${status}: ${name} ${directory}`),
        );
      }
      case 'managed environment': {
        const environments = await client.environments.list({ query, signal });
        return environments.map(({ id, machine_name: name, directory }) =>
          candidate(id, `${name} ${directory}`),
        );
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

function candidate(value: string, says: string): Candidate {
  return { value, says: printable(says) };
}

const ignore = () => undefined;
const silent: Terminal = {
  ...{ json: true, isForEyes: false, columns: 0 },
  ...{ out: ignore, result: ignore, note: ignore, err: ignore, status: ignore },
  style: (_style, text) => text,
};
