import { ServiceError, type TokenSource } from '@sallyport/core';
import { contract } from '@sallyport/core/contract';
import { trustDevice } from '@sallyport/oauth';
import { accessOf, lacks } from '../../access.ts';
import type { Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { keptDevice, type KeptDevice } from './kept-device.ts';

const { permission } = contract.bridge.register;

/** ... and how to begin with a new one after all. */
export interface DeviceTokens extends TokenSource {
  /** The device was revoked: where there is no stored login, the next start trusts another one. */
  revoked(): Promise<void>;
}

/**
 * This machine's trusted device token: the one kept with the stored login, or for the account of the environment's token; a
 * new one where there is none or it was refused. No device is trusted for an account that may not register one.
 */
export function deviceTokens(
  { settings }: Pick<Context, 'settings'>,
  connection: Pick<Connection, 'client' | 'organizationId' | 'store' | 'loginKey'>,
  displayName: string,
): DeviceTokens {
  const { client, store, loginKey: key } = connection;
  // A token of the environment may be of another account than the stored login.
  const isStored = settings.token === undefined;
  let unstored: string | undefined;
  let kept: Promise<KeptDevice | undefined> | undefined;
  async function unstoredToken(signal: AbortSignal | undefined): Promise<string | undefined> {
    kept ??= keptDevice({ settings }, connection, signal).catch((error: unknown) => {
      kept = undefined; // an outage: asked again
      throw error;
    });
    return (unstored ??= await (await kept)?.load());
  }
  return {
    async token({ forceRefresh = false, refused, signal } = {}) {
      const known = isStored ? (await store.load(key))?.deviceToken : await unstoredToken(signal);
      const isRefused = forceRefresh && (refused ?? known) === known;
      if (known !== undefined && !isRefused) return known;
      await requireRegistering(connection, signal);
      const call = { client, displayName, ...(signal && { signal }) };
      if (isStored) return trustDevice({ ...call, store, key });
      const body = { display_name: displayName };
      unstored = await client.devices.trust({ body, ...(signal && { signal }) });
      await (await kept)?.save(unstored);
      return unstored;
    },
    async revoked() {
      await (await kept)?.forget();
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
