import { existsSync } from 'node:fs';
import { createAuthorizationServer, type AuthorizationServer } from '@sallyport/oauth/server';
import { publicUrlOf } from '../config/address.ts';
import type { Config } from '../config/schema.ts';
import { operator } from '../operator.ts';
import { runningGateway } from '../store/embedded/lock.ts';
import { embeddedStorePath } from '../store/embedded/path.ts';
import { noStore } from '../store/embedded/store-error.ts';
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

export interface Opening {
  /** For what may come before the first start, and makes the store that it finds missing; else that is refused. */
  readonly mayMake?: boolean;
}

/** Runs `act` on the authorization server of a data directory, whether or not a gateway runs on it now. */
export function withAuthorizationServer<T>(
  flags: ConfigFlags,
  act: (server: AuthorizationServer) => Promise<T>,
  opening?: Opening,
): Promise<T> {
  return withAdministration(flags, ({ server }) => act(server), opening);
}

/** Runs `act` on all of a data directory, whether or not a gateway runs on it now. */
export function withAdministration<T>(
  flags: ConfigFlags,
  act: (administration: Administration) => Promise<T>,
  opening?: Opening,
): Promise<T> {
  const onStore = async ({ config, store, runningUrl }: Opened) => {
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
  };
  return withStore(flags, onStore, opening);
}

type Opened = Omit<Administration, 'server'> & { readonly runningUrl?: string | undefined };

/** The same for what has nothing to do with accounts. */
export async function withStore<T>(
  flags: ConfigFlags,
  act: (opened: Opened) => Promise<T>,
  { mayMake = false }: Opening = {},
): Promise<T> {
  const { config } = configOf(flags);
  const path = embeddedStorePath(config);
  if (!existsSync(path)) {
    if (!mayMake) throw noStore(path);
    process.stderr.write(`There is no store ${path} yet: it is made now.\n`);
  }
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
