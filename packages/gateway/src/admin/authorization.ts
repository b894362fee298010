import { createAuthorizationServer, type AuthorizationServer } from '@sallyport/oauth/server';
import { publicUrlOf } from '../config/address.ts';
import { runningGateway } from '../store/embedded/lock.ts';
import { embeddedStorePath } from '../store/embedded/path.ts';
import { openEmbeddedStore } from '../store/embedded/store.ts';
import { workerTokenSeconds } from '../worker-tokens.ts';
import { configOf } from './config-of.ts';
import type { ConfigFlags } from './flags.ts';

/** Runs `act` on the authorization server of a data directory, whether or not a gateway runs on it now. */
export async function withAuthorizationServer<T>(
  flags: ConfigFlags,
  act: (server: AuthorizationServer) => Promise<T>,
): Promise<T> {
  const { config } = configOf(flags);
  const path = embeddedStorePath(config);
  const running = runningGateway(path);
  const store = await openEmbeddedStore({
    path,
    // The schema under a running gateway is the gateway's.
    migrate: running === undefined,
  });
  try {
    return await act(
      await createAuthorizationServer({
        store: store.oauth,
        // Links lead to the gateway that runs, whatever its command line said.
        issuer: running?.url ?? publicUrlOf(config, config.port),
        config: config.oauth,
        otherTokenSeconds: workerTokenSeconds,
        dialect: config.dialect,
      }),
    );
  } finally {
    await store.close();
  }
}
