import type { IncomingMessage } from 'node:http';
import { neutralDialect, inDialect, TransportError, type Clock, type Timer } from '@sallyport/core';
import { endpointUrl, toServiceError, type ClientOptions } from '@sallyport/core/client';
import { contract, headerNames, workerVersion } from '@sallyport/core/contract';
import { WebSocket, type RawData } from 'ws';
import { maxFrameBytes, type ServiceFrame } from '../protocol/frames.ts';
import type { Credentials } from './handshake.ts';
import { tunnelAgent } from './tunnel.ts';

const handshakeTimeoutMs = 10_000;
/** We speak at least this often: the lease lives on it, and a peer that does not ping has to pong. */
const heartbeatMs = 20_000;
/** Without a frame for so long the link is dead, whatever the socket says. */
const silenceMs = 60_000;

export interface StreamOptions {
  readonly clientOptions: ClientOptions;
  readonly clock: Clock;
  readonly credentials: Credentials;
  readonly sessionId: string;
  /** Events after this one are wanted. */
  readonly fromSeq: number;
  readonly onOpen: (stream: WorkerStream) => void;
  readonly onFrame: (frame: ServiceFrame) => void;
}

/** An open stream ended; 1006: without a word, which is a failed network, too. */
export interface StreamEnd {
  readonly code: number;
  readonly reason: string;
}

/** Step 3 of the handshake: one WebSocket, from its opening to its end. */
export class WorkerStream {
  /** Rejects when it never opened: `ServiceError` for the service's refusal, `TransportError` for the network. */
  readonly ended: Promise<StreamEnd>;
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #timers = new Map<string, Timer>();
  #finish: (end: StreamEnd | Error) => void = () => undefined;

  constructor(options: StreamOptions) {
    const { clientOptions, clock, credentials, onOpen, onFrame } = options;
    this.#clock = clock;
    const url = streamUrl(options);
    const proxy = clientOptions.transport.proxyFor?.(url.replace(/^ws/, 'http'));
    this.#socket = new WebSocket(url, {
      ...(proxy !== undefined && { agent: tunnelAgent(proxy, url) }),
      headers: streamHeaders(clientOptions, credentials),
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
      void toRefusal(response, url, clock.now()).then((error) => this.#abandon(error));
    });
    let wasOpen = false;
    socket.on('open', () => {
      wasOpen = true;
      this.#heard();
      this.#beat();
      onOpen(this);
    });
    socket.on('ping', () => this.#heard());
    socket.on('pong', () => this.#heard());
    socket.on('message', (data, isBinary) => {
      this.#heard();
      const frame = isBinary ? undefined : parseFrame(data);
      if (frame) onFrame(frame);
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  send(frame: string): void {
    if (this.isOpen) this.#socket.send(frame);
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
    this.#arm('silence', silenceMs, () => this.drop());
  }

  #beat(): void {
    this.#arm('beat', heartbeatMs, () => {
      this.#socket.ping();
      this.send('{"type":"worker.heartbeat"}');
      this.#beat();
    });
  }

  #arm(name: string, ms: number, act: () => void): void {
    this.#timers.get(name)?.cancel();
    this.#timers.set(name, this.#clock.after(ms, act));
  }
}

function streamUrl({ clientOptions, credentials, sessionId, fromSeq }: StreamOptions): string {
  const input = { params: { id: sessionId }, query: { from_seq: fromSeq } };
  return endpointUrl(
    credentials.apiBaseUrl,
    contract.worker.stream,
    input,
    clientOptions.dialect ?? neutralDialect,
  ).replace(/^http/, 'ws');
}

function streamHeaders(
  { dialect = neutralDialect, headers }: ClientOptions,
  { ingressToken }: Credentials,
): Record<string, string> {
  return {
    ...headers,
    authorization: `Bearer ${ingressToken}`,
    'content-type': 'application/json',
    [inDialect(headerNames.version, dialect)]: workerVersion,
  };
}

async function toRefusal(response: IncomingMessage, url: string, now: number): Promise<Error> {
  const text = async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('utf8');
  };
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
  );
  return toServiceError(
    { status: response.statusCode ?? 0, headers, text, stream: () => response },
    url,
    now,
  );
}

/** Anything that is no JSON object with a type is not for us. */
function parseFrame(data: RawData): ServiceFrame | undefined {
  try {
    const value: unknown = JSON.parse((data as Buffer).toString('utf8'));
    return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
      ? (value as ServiceFrame)
      : undefined;
  } catch {
    return undefined;
  }
}
