import type { TokenSource } from '@sallyport/core';
import { trustDevice } from '@sallyport/oauth';
import type { Connection } from '../../connect.ts';

/** This machine's trusted device token: the stored one, or a new one where there is none or it was refused. */
export function deviceTokens({ client, store, loginKey }: Connection, displayName: string): TokenSource {
  let fromEnvironment: string | undefined;
  return {
    async token({ forceRefresh = false, signal } = {}) {
      const login = await store.load(loginKey);
      const known = login?.deviceToken ?? fromEnvironment;
      if (known !== undefined && !forceRefresh) return known;
      const call = { displayName, ...(signal && { signal }) };
      if (login) return trustDevice({ client, store, key: loginKey, ...call });
      // The login is a token of the environment: nothing is stored for it.
      fromEnvironment = await client.devices.trust({
        body: { display_name: displayName },
        ...(signal && { signal }),
      });
      return fromEnvironment;
    },
  };
}
