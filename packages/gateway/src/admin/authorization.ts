import { userInfo } from 'node:os';
import { createAuthorizationServer, type Actor, type AuthorizationServer } from '@sallyport/oauth/server';
import { publicUrlOf } from '../config/address.ts';
import type { Config } from '../config/schema.ts';
import { runningGateway } from '../store/embedded/lock.ts';
import { embeddedStorePath } from '../store/embedded/path.ts';
import { openEmbeddedStore, type EmbeddedStore } from '../store/embedded/store.ts';
import { workerTokenSeconds } from '../worker-tokens.ts';
import { configOf } from './config-of.ts';
import type { ConfigFlags } from './flags.ts';

/** A data directory, opened for a command. */
export interface Administration {
  readonly config: Config;
  readonly store: EmbeddedStore;
  readonly server: AuthorizationServer;
}

/** Runs `act` on the authorization server of a data directory, whether or not a gateway runs on it now. */
export function withAuthorizationServer<T>(
  flags: ConfigFlags,
  act: (server: AuthorizationServer) => Promise<T>,
): Promise<T> {
  return withAdministration(flags, ({ server }) => act(server));
}

/** Runs `act` on all of a data directory, whether or not a gateway runs on it now. */
export function withAdministration<T>(
  flags: ConfigFlags,
  act: (administration: Administration) => Promise<T>,
): Promise<T> {
  return withStore(flags, async ({ config, store, runningUrl }) => {
    const actor = operator();
    const server = await createAuthorizationServer({
      store: store.oauth,
      // Links lead to the gateway that runs, whatever its command line said.
      issuer: runningUrl ?? publicUrlOf(config, config.port),
      config: config.oauth,
      otherTokenSeconds: workerTokenSeconds,
      dialect: config.dialect,
      callOrigin: () => ({ actor }),
    });
    return act({ config, store, server });
  });
}

/** The same for what has nothing to do with accounts. */
export async function withStore<T>(
  flags: ConfigFlags,
  act: (opened: Omit<Administration, 'server'> & { readonly runningUrl?: string | undefined }) => Promise<T>,
): Promise<T> {
  const { config } = configOf(flags);
  const path = embeddedStorePath(config);
  const running = runningGateway(path);
  const store = await openEmbeddedStore({
    path,
    // The schema under a running gateway is the gateway's.
    migrate: running === undefined,
    onNotice: (notice) => process.stderr.write(`${notice}\n`),
  });
  try {
    return await act({ config, store, runningUrl: running?.url ?? undefined });
  } finally {
    await store.close();
  }
}

/** Who runs the command, by the machine's name for them. */
function operator(): Actor {
  try {
    return { type: 'operator', id: userInfo().username };
  } catch {
    // A container's user may have no name.
    return { type: 'operator', id: `uid ${String(process.getuid?.() ?? 'unknown')}` };
  }
}
