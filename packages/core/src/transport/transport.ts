/** One HTTP request, as the client half of every package makes it. */
export interface TransportRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is begun anew each time the request is sent. Bytes are the caller's to change once the answer has ended. */
  readonly body?: string | Uint8Array | (() => AsyncIterable<Uint8Array>);
  /** Milliseconds until the response's head must be there, connecting included. */
  readonly timeoutMs: number;
  /** Milliseconds that the body may stand still; 0 for streams that rest as they like. Default: `timeoutMs`. */
  readonly idleMs?: number;
  readonly signal?: AbortSignal;
}

export interface TransportResponse {
  readonly status: number;
  /** Names are lower-case; repeated members are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body as text; rejects past `maxBytes` (default 16 MiB), and where it only trickles in. */
  text(maxBytes?: number): Promise<string>;
  /** The body as it comes. Whoever stops early ends the connection. */
  stream(): AsyncIterable<Uint8Array>;
}

/** How requests leave the process. Failures are `TransportError`s; any status is an answer. */
export interface Transport {
  send(request: TransportRequest): Promise<TransportResponse>;
  /** The proxy, as a URL, that requests to this one go through: for connections that are made beside it. */
  proxyFor?(url: string): string | undefined;
  /** The authorities that are trusted, where those are not Node.js' own: for the same connections. */
  readonly ca?: readonly string[];
  close(): Promise<void>;
}

/** What the transports of Node.js programs may be told. */
export interface TransportOptions {
  /** Connections per origin. Default 64. */
  readonly connections?: number;
  /** Milliseconds for DNS, TCP and TLS together. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Certificates, in PEM form, of all the authorities that are trusted. Default: those of Node.js. */
  readonly ca?: readonly string[];
  /** Honour `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. Default true. */
  readonly proxyFromEnvironment?: boolean;
}
