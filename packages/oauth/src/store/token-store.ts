/** A login on this machine. Everything in it but the names is secret. */
export interface Credentials {
  readonly baseUrl: string;
  readonly clientId: string;
  /** The organization that the tokens are for, and whose account; absent where the service does not tell. */
  readonly organizationId?: string;
  readonly accountId?: string;
  readonly accessToken: string;
  /** Absent where the service gives none: the login ends with its access token. */
  readonly refreshToken?: string;
  /** Epoch milliseconds of this machine's clock. */
  readonly expiresAt: number;
  /** When the access token was asked for, by the same clock: by one that shows an earlier time, `expiresAt` means nothing. */
  readonly requestedAt?: number;
  /** Space-separated, as granted. */
  readonly scope: string;
  /** The trusted device token of this machine for this account. */
  readonly deviceToken?: string;
}

/** Where logins rest, by key: a profile's name, say. Failures are `LoginError`s `store_*`. */
export interface TokenStore {
  load(key: string): Promise<Credentials | undefined>;
  /** Throws what would keep a login from being saved: to be asked before a person is sent to approve one. */
  probe(key: string): Promise<void>;
  /** Durable and whole once it resolves: a crash leaves the old login or the new one. */
  save(key: string, credentials: Credentials): Promise<void>;
  /** Removing what is not there is no error. */
  remove(key: string): Promise<void>;
  /**
   * Runs `act` while no other holder of that key's lock does, in this process or another.
   * Whoever reads to write (a refresh, a logout) does it in here. Not re-entrant.
   */
  withLock<T>(key: string, act: () => Promise<T>): Promise<T>;
}
