import type { Socket } from 'node:net';
import { TransportError, type Clock, type Timer } from '@sallyport/core';
import { incomingAnswer, toServiceError, tunnelAgent, type ClientOptions } from '@sallyport/core/client';
import { WebSocket, type RawData } from 'ws';
import { maxFrameBytes } from '../protocol/frames.ts';

const handshakeTimeoutMs = 10_000;
/** We speak at least this often: leases live on it, and a peer that does not ping has to pong. */
export const heartbeatMs = 20_000;
/** Without a byte for so long the link is dead, whatever the socket says. */
export const silenceMs = 60_000;

export interface LiveSocketOptions {
  readonly clientOptions: ClientOptions;
  readonly clock: Clock;
  /** `ws:` or `wss:`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent with each ping. */
  readonly heartbeat?: string;
  readonly onOpen: () => void;
  readonly onText: (text: string) => void;
}

/** An open stream ended; 1006: without a word, which is a failed network, too. */
export interface StreamEnd {
  readonly code: number;
  readonly reason: string;
}

/** One WebSocket, from its opening to its end, through the proxy that other calls go through; it notices a dead peer. */
export class LiveSocket {
  /** Rejects when it never opened: `ServiceError` for the service's refusal, `TransportError` for the network. */
  readonly ended: Promise<StreamEnd>;
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #heartbeat: string | undefined;
  readonly #timers = new Map<string, Timer>();
  #connection: Socket | undefined;
  #finish: (end: StreamEnd | Error) => void = () => undefined;

  constructor({ clientOptions, clock, url, headers, heartbeat, onOpen, onText }: LiveSocketOptions) {
    this.#clock = clock;
    this.#heartbeat = heartbeat;
    const { transport } = clientOptions;
    const proxy = transport.proxyFor?.(url.replace(/^ws/, 'http'));
    this.#socket = new WebSocket(url, {
      ...(proxy !== undefined && { agent: tunnelAgent(proxy, url) }),
      ...(transport.ca && { ca: [...transport.ca] }),
      headers: { ...headers },
      handshakeTimeout: handshakeTimeoutMs,
      maxPayload: maxFrameBytes,
      perMessageDeflate: false,
    });
    this.ended = new Promise((resolve, reject) => {
      this.#finish = (end) => {
        for (const timer of this.#timers.values()) timer.cancel();
        if (end instanceof Error) reject(end);
        else resolve(end);
      };
    });
    const socket = this.#socket;
    let failure: Error | undefined;
    socket.on('error', (error) => (failure = error));
    socket.on('close', (code, reason) => {
      if (wasOpen) this.#finish({ code, reason: reason.toString() });
      else
        this.#finish(
          new TransportError('unreachable', `no stream: ${failure?.message ?? 'closed'}`, { cause: failure }),
        );
    });
    socket.on('unexpected-response', (_, response) => {
      void toServiceError(incomingAnswer(response), url, clock.now()).then((error) => this.#abandon(error));
    });
    let wasOpen = false;
    socket.on('upgrade', (response) => (this.#connection = response.socket));
    socket.on('open', () => {
      wasOpen = true;
      this.#heard();
      this.#beat();
      onOpen();
    });
    socket.on('ping', () => this.#heard());
    socket.on('pong', () => this.#heard());
    socket.on('message', (data: RawData, isBinary) => {
      this.#heard();
      if (!isBinary) onText((data as Buffer).toString('utf8'));
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  send(text: string): void {
    if (this.isOpen) this.#socket.send(text);
  }

  /** Ends it politely, once what was sent is out. */
  close(): void {
    this.#socket.close(1000);
    // The peer may never answer the close.
    this.#arm('close', 2_000, () => this.drop());
  }

  /** Ends it without a word: the peer is not there any more, or shall not be heard any more. */
  drop(): void {
    this.#abandon({ code: 1006, reason: 'dropped' });
  }

  #abandon(end: StreamEnd | Error): void {
    this.#socket.removeAllListeners();
    this.#socket.on('error', () => undefined);
    this.#socket.terminate();
    this.#finish(end);
  }

  #heard(): void {
    const heard = this.#connection?.bytesRead;
    this.#arm('silence', silenceMs, () => {
      // A large frame on a slow line takes longer than a peer may be silent.
      if (this.#connection?.bytesRead === heard) this.drop();
      else this.#heard();
    });
  }

  #beat(): void {
    this.#arm('beat', heartbeatMs, () => {
      this.#socket.ping();
      if (this.#heartbeat !== undefined) this.send(this.#heartbeat);
      this.#beat();
    });
  }

  #arm(name: string, ms: number, act: () => void): void {
    this.#timers.get(name)?.cancel();
    this.#timers.set(name, this.#clock.after(ms, act));
  }
}
