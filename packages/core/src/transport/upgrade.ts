import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

/** A WebSocket to be opened, as the client half of every package does. */
export interface SocketRequest extends Pick<TransportRequest, 'url' | 'headers' | 'signal'> {
  /** Milliseconds until it must be open, or refused. */
  readonly timeoutMs: number;
  /** Subprotocols, the best one first. */
  readonly protocols?: readonly string[];
  /** A larger message ends it with 1009. Default: 16 MiB. */
  readonly maxMessageBytes?: number;
}

/** Text, or bytes. */
export type SocketMessage = string | Uint8Array;

/** How a WebSocket ended (RFC 6455 7.4): 1000 is done, 1005 no code, 1006 without a word, as where the network failed. */
export interface SocketEnd {
  readonly code: number;
  readonly reason: string;
}

/**
 * An open WebSocket, and its messages in their order. What is not read holds up its sender; whoever stops reading early
 * closes it. Reading throws `TransportError` where it breaks off or is aborted, and ends with it in any other case.
 */
export interface ClientSocket extends AsyncIterable<SocketMessage>, AsyncDisposable {
  readonly status: 101;
  /** Of the answer that opened it; names are lower-case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The subprotocol that was agreed on; empty: none. */
  readonly protocol: string;
  /** Never rejects. */
  readonly ended: Promise<SocketEnd>;
  /** Bytes go as a binary message, an object as JSON. Resolves once it is with the network: wait, and no more waits here. */
  send(message: SocketMessage | Readonly<Record<string, unknown>>): Promise<void>;
  /** Says goodbye. Whoever reads already still gets what comes until the other side does so, too, within 30 s. */
  close(code?: number, reason?: string): Promise<SocketEnd>;
  /** Ends it without a word. */
  drop(): void;
}

/**
 * Opens a WebSocket, through the proxy that the transport's requests go through. Gives the answer where it is refused;
 * rejects with `TransportError`. `signal` closes it with 1000 once it is open.
 */
export async function upgrade(
  transport: Pick<Transport, 'proxyFor' | 'ca'>,
  request: SocketRequest,
): Promise<ClientSocket | TransportResponse> {
  // Few programs that have a client open one.
  const { openSocket } = await import('./web-socket.ts');
  return openSocket(transport, request);
}
