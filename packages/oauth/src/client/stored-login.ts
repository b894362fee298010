import type { Client } from '@sallyport/core/client';
import type { Credentials, TokenStore } from '../store/token-store.ts';
import { LoginError } from './login-error.ts';

export interface StoredLogin {
  /** The login as stored. */
  readonly stored: Credentials;
  /** The one that it replaced, which holds at the service still: for `revokeLogin`. */
  readonly replaced?: Credentials;
}

/** Stores a new login, over whatever was there, readable or not. A trusted device token stays, if it is the same account's. */
export function storeLogin(store: TokenStore, key: string, login: Credentials): Promise<StoredLogin> {
  return store.withLock(key, async () => {
    const replaced = await previous(store, key);
    const stored = { ...deviceTokenFor(login, replaced), ...login };
    await store.save(key, stored);
    // A service that gives the same token again would end both.
    const holds = replaced !== undefined && replaced.refreshToken !== login.refreshToken;
    return { stored, ...(holds && { replaced }) };
  });
}

export interface TrustDevice {
  /** The service's client, with the tokens of the login under `key`. */
  readonly client: Client;
  readonly store: TokenStore;
  readonly key: string;
  /** What the person will recognise this machine by. */
  readonly displayName: string;
  readonly signal?: AbortSignal;
}

/** Makes this machine a trusted device and keeps its token with the login. Gives the token. */
export async function trustDevice({ client, store, key, displayName, signal }: TrustDevice): Promise<string> {
  // Not under the lock: the call may have to refresh the token, which takes it.
  const deviceToken = await client.devices.trust({
    body: { display_name: displayName },
    ...(signal && { signal }),
  });
  await store.withLock(key, async () => {
    const login = await store.load(key);
    if (!login) throw new LoginError('login_required', 'The login was removed meanwhile.');
    await store.save(key, { ...login, deviceToken });
  });
  return deviceToken;
}

async function previous(store: TokenStore, key: string): Promise<Credentials | undefined> {
  try {
    return await store.load(key);
  } catch (error) {
    // What cannot be read cannot be kept; what can be stored is the new login's place to say.
    if (error instanceof LoginError && /^(store_corrupt|store_newer|keychain_failed)$/.test(error.code))
      return undefined;
    throw error;
  }
}

function deviceTokenFor(
  login: Credentials,
  before: Credentials | undefined,
): Pick<Credentials, 'deviceToken'> {
  const same =
    before !== undefined &&
    before.baseUrl === login.baseUrl &&
    before.accountId !== undefined &&
    before.accountId === login.accountId &&
    before.organizationId === login.organizationId;
  return same && before.deviceToken !== undefined ? { deviceToken: before.deviceToken } : {};
}
