import { sleep, systemClock, type TokenSource } from '@sallyport/core';
import type { Credentials, TokenStore } from '../store/token-store.ts';
import { discover, type DiscoveredServer } from './discovery.ts';
import { whileWanted } from './interruption.ts';
import { LoginError } from './login-error.ts';
import type { OAuthOptions } from './oauth-fetch.ts';
import { refreshLogin } from './refresh.ts';

/** Where and as whom is part of the stored login. */
export interface TokenProviderOptions extends Omit<OAuthOptions, 'baseUrl' | 'clientId'> {
  readonly store: TokenStore;
  readonly key: string;
  /** How long before its expiry a token is no longer given out. Default 30 s. */
  readonly refreshBeforeMs?: number;
}

/** How often the store is looked at for a new login: a person who has just logged in is watching. */
const lookMs = 5_000;

/**
 * Gives the access token of a stored login, and renews it when it runs out or was refused: once, whoever asks meanwhile,
 * in this process or in another one that shares the store. Throws `LoginError` `login_required` where a person must log
 * in again, and `other_organization` where the person has logged in for another one than this provider began with: what
 * runs for one must not go on for another. It never removes a login.
 */
export class TokenProvider implements TokenSource {
  readonly #options: TokenProviderOptions;
  #login: Credentials | undefined;
  #renewal: Promise<Credentials> | undefined;
  #organizationId: string | undefined;
  /** The access token of the login that was seen last, usable or not. */
  #seen: string | undefined;
  #server: DiscoveredServer | undefined;
  /** Renewed, but the store failed just then: what it has is spent, and the service takes it for stolen soon. */
  #unstored: { readonly spent: Credentials; readonly renewed: Credentials } | undefined;

  constructor(options: TokenProviderOptions) {
    this.#options = options;
  }

  async token({
    forceRefresh = false,
    refused = this.#login?.accessToken,
    signal,
  }: TokenRequest = {}): Promise<string> {
    const unwanted = forceRefresh ? refused : undefined;
    if (this.#isUsable(this.#login, unwanted)) return this.#login.accessToken;
    for (;;) {
      const joined = this.#renewal;
      const { accessToken } = await whileWanted(joined ?? this.#startRenewal(unwanted), signal);
      // A renewal that others had started may bring the very token that this caller was refused with.
      if (!joined || accessToken !== unwanted) return accessToken;
    }
  }

  async changed(signal: AbortSignal): Promise<void> {
    const { store, key, clock = systemClock } = this.#options;
    const ended = this.#seen;
    for (;;) {
      await sleep(clock, lookMs, signal);
      const stored = await store.load(key).catch(() => undefined); // a store that cannot be read now may be later
      if (stored && stored.accessToken !== ended) return;
    }
  }

  #startRenewal(unwanted: string | undefined): Promise<Credentials> {
    this.#renewal = this.#renew(unwanted).finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #renew(unwanted: string | undefined): Promise<Credentials> {
    const { store, key } = this.#options;
    const found = await this.#load();
    if (this.#isUsable(found, unwanted)) return (this.#login = found);
    return store.withLock(key, async () => {
      // Read again: whoever held the lock before may have renewed it.
      const stored = await this.#storedSince(await this.#load());
      return (this.#login = this.#isUsable(stored, unwanted)
        ? stored
        : await this.#refresh(stored, unwanted));
    });
  }

  async #refresh(stored: Credentials, unwanted: string | undefined): Promise<Credentials> {
    const { store, key } = this.#options;
    try {
      // Once renewed, the refresh token is used up: a store that cannot take the new login must say so before that.
      await store.save(key, stored);
      const renewed = await refreshLogin(await this.#discovered(stored), stored);
      this.#unstored = { spent: stored, renewed };
      await store.save(key, renewed);
      this.#unstored = undefined;
      this.#seen = renewed.accessToken;
      return renewed;
    } catch (error) {
      if (error instanceof LoginError) {
        if (error.code !== 'login_required') throw error;
        // A writer that had lost the lock, or never took it, may have been first: its login counts.
        const newer = await this.#load();
        if (this.#isUsable(newer, unwanted) && newer.refreshToken !== stored.refreshToken) return newer;
        throw error;
      }
      // The service is away, but the token is good for some seconds more.
      if (this.#isUsable(stored, unwanted, 0)) return stored;
      throw error;
    }
  }

  /** Stores what could not be stored when it was renewed, unless another login has come in its place. */
  async #storedSince(stored: Credentials): Promise<Credentials> {
    const { spent, renewed } = this.#unstored ?? {};
    if (!spent || !renewed || spent.refreshToken !== stored.refreshToken) {
      this.#unstored = undefined;
      return stored;
    }
    const { deviceToken = renewed.deviceToken } = stored;
    const login = { ...renewed, ...(deviceToken !== undefined && { deviceToken }) };
    await this.#options.store.save(this.#options.key, login);
    this.#unstored = undefined;
    this.#seen = login.accessToken;
    return login;
  }

  async #load(): Promise<Credentials> {
    const stored = await this.#options.store.load(this.#options.key);
    this.#seen = stored?.accessToken;
    if (stored) return this.#sameOrganization(stored);
    this.#login = undefined;
    throw new LoginError('login_required', 'There is no login on this machine.');
  }

  #sameOrganization(stored: Credentials): Credentials {
    const { organizationId = this.#organizationId } = stored;
    this.#organizationId ??= organizationId;
    if (organizationId === this.#organizationId) return stored;
    this.#login = undefined;
    throw new LoginError(
      'other_organization',
      `The login on this machine is no longer for the organization ${this.#organizationId ?? ''}.`,
    );
  }

  async #discovered({ baseUrl, clientId }: Credentials): Promise<DiscoveredServer> {
    const known = this.#server;
    if (known?.options.baseUrl === baseUrl && known.options.clientId === clientId) return known;
    return (this.#server = await discover({ ...this.#options, baseUrl, clientId }));
  }

  #isUsable(
    login: Credentials | undefined,
    unwanted: string | undefined,
    marginMs = this.#options.refreshBeforeMs ?? 30_000,
  ): login is Credentials {
    if (login === undefined || login.accessToken === unwanted) return false;
    const now = (this.#options.clock ?? systemClock).now();
    const { requestedAt = now, expiresAt } = login;
    // Before it was asked for: the clock was set back since, and would make the token live for longer than the service does.
    return now >= requestedAt - marginMs && now < expiresAt - marginMs;
  }
}

type TokenRequest = NonNullable<Parameters<TokenSource['token']>[0]>;
