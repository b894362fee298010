import { ServiceError, type TokenSource } from '@sallyport/core';
import { contract } from '@sallyport/core/contract';
import { trustDevice } from '@sallyport/oauth';
import { accessOf, lacks } from '../../access.ts';
import type { Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';

const { permission } = contract.bridge.register;

/**
 * This machine's trusted device token: the stored login's, or a new one where there is none or it was refused. No device is
 * trusted for an account that may not register one.
 */
export function deviceTokens(
  { settings }: Pick<Context, 'settings'>,
  connection: Pick<Connection, 'client' | 'organizationId' | 'store' | 'loginKey'>,
  displayName: string,
): TokenSource {
  const { client, store, loginKey: key } = connection;
  // A token of the environment may be of another account than the stored login, and nothing is stored for it.
  const isStored = settings.token === undefined;
  let unstored: string | undefined;
  return {
    async token({ forceRefresh = false, refused, signal } = {}) {
      const known = isStored ? (await store.load(key))?.deviceToken : unstored;
      const isRefused = forceRefresh && (refused ?? known) === known;
      if (known !== undefined && !isRefused) return known;
      await requireRegistering(connection, signal);
      const call = { client, displayName, ...(signal && { signal }) };
      if (isStored) return trustDevice({ ...call, store, key });
      const body = { display_name: displayName };
      unstored = await client.devices.trust({ body, ...(signal && { signal }) });
      return unstored;
    },
  };
}

/** Throws `forbidden` where the account is known not to be allowed what its registration asks for. */
async function requireRegistering(
  connection: Pick<Connection, 'client' | 'organizationId'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const access = await accessOf(connection, signal);
  if (!lacks(access, permission)) return;
  throw new ServiceError(
    'forbidden',
    `A bridge needs the permission ${permission} in the organization, and this account is a ${access.access_level} there.`,
    { details: { permission } },
  );
}
