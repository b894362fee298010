/** Gives the bearer that a call should carry. */
export interface TokenSource {
  /**
   * `forceRefresh`: the service refused `refused` (by default the last one given) with 401, so a cached one will not do.
   * A source that meanwhile holds another one than `refused` gives that one.
   *
   * Rejects with an error of which `isLoginRequired` holds where only a person can help.
   */
  token(options?: {
    readonly forceRefresh?: boolean;
    readonly refused?: string;
    readonly signal?: AbortSignal;
  }): Promise<string>;
  /**
   * Resolves when a person has logged in anew since the token that was given or looked at last, without asking the service;
   * rejects when `signal` aborts. Absent where a running process gets no other login.
   */
  changed?(signal: AbortSignal): Promise<void>;
}

/** Whether a `TokenSource` gave up for good: a person must log in again, or set another token. */
export function isLoginRequired(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return /^(login_required|other_organization|token_refused)$/.test(String(error.code));
}

export type AttributeValue = string | number | boolean;

/** Something worth telling the telemetry; the batcher turns it into an OTLP log record. */
export interface Report {
  /** Dotted and stable: `session.started`. */
  readonly name: string;
  readonly severity?: 'info' | 'error';
  readonly body?: string;
  readonly attributes?: Readonly<Record<string, AttributeValue>>;
}

/** A place to report to. Never throws, never blocks. */
export interface Reporter {
  report(report: Report): void;
}

export const silentReporter: Reporter = { report: () => undefined };

/** Tells waiting parties of this process, and of others where a bus connects them, that something about `topic` changed. */
export interface Wakeups {
  notify(topic: string): void;
  /** `listener` is woken after each notification, never synchronously inside `subscribe`. */
  subscribe(topic: string, listener: WakeListener): void;
  /** Ends one subscription. */
  unsubscribe(topic: string, listener: WakeListener): void;
}

/** An object, and not a function with what it names around it: there are thousands. */
export interface WakeListener {
  wake(): void;
}

/** What others stand on: a login, an API key or a trusted device, by its id. */
export interface Grants {
  /** Counts what is told of revocations: taken before a grant is looked at, it is what a watch of that grant goes on from. */
  readonly changes: number;
  /**
   * `listener` is told once, soon after the grant or its token stands no more, or gives no more what the listener needs,
   * whoever saw to that. Each watch has a listener of its own. `since`: the `changes` at which the grant was seen to stand,
   * so that what came between that and the watch is told, too; without it, the grant is looked at now.
   */
  watch(grantId: string, listener: GrantListener, since?: number): void;
  unwatch(grantId: string, listener: GrantListener): void;
}

/** An object, as `WakeListener` is. */
export interface GrantListener {
  /** What the account behind the grant has to be allowed in its organization; default: to be a member. */
  readonly permission?: string | undefined;
  /** The access token that it came with, where there was one: it can be revoked by itself (RFC 7009). */
  readonly tokenId?: string | undefined;
  revoked(): void;
}

/** What an engine keeps of an account: for its export, and for its erasure. */
export interface AccountData {
  /** By section; each is read page by page, while it is consumed. */
  export(accountId: string): Readonly<Record<string, AsyncIterable<object>>>;
  /** Deletes all of it in bounded acts; may be repeated after a failure. Gives how many of each section there were. */
  erase(accountId: string): Promise<Readonly<Record<string, number>>>;
}

/** What an engine keeps of an organization, whoever of its members it is of: for its deletion. */
export interface OrganizationData {
  /** As an account's. */
  erase(organizationId: string): Promise<Readonly<Record<string, number>>>;
}

/** The part of pino's interface that the engines use. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** Knows accounts' e-mail addresses, as they are at the moment. */
export interface AccountEmails {
  /** By id; an account that is there no more has none. */
  emails(accountIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}
