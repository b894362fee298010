import { createAuthorizationServer, type AuthorizationServer } from '@sallyport/oauth/server';
import type { ConfigFlags } from '../program.ts';
import { isDataDirectoryLocked } from '../store/embedded/lock.ts';
import { embeddedStorePath } from '../store/embedded/path.ts';
import { openEmbeddedStore } from '../store/embedded/store.ts';
import { configOf } from './flags.ts';

/** Runs `act` on the authorization server of a data directory, whether or not a gateway runs on it now. */
export async function withAuthorizationServer<T>(
  flags: ConfigFlags,
  act: (server: AuthorizationServer) => Promise<T>,
): Promise<T> {
  const { config } = configOf(flags);
  const store = await openEmbeddedStore({
    path: embeddedStorePath(config),
    // The schema under a running gateway is the gateway's.
    migrate: !isDataDirectoryLocked(config.dataDir),
  });
  try {
    const issuer = config.publicUrl ?? `http://${config.host}:${config.port}`;
    return await act(
      await createAuthorizationServer({
        store: store.oauth,
        issuer,
        config: config.oauth,
        dialect: config.dialect,
      }),
    );
  } finally {
    await store.close();
  }
}
