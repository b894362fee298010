import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { TransportError } from '../errors.ts';
import { transportFailure } from './failure.ts';
import { incomingAnswer } from './incoming-answer.ts';
import { tunnelAgent } from './tunnel.ts';
import type { Transport, TransportResponse } from './transport.ts';
import type { ClientSocket, SocketEnd, SocketMessage, SocketRequest } from './upgrade.ts';

/** So much may wait for its reader; then the connection is not read on. */
const maxWaitingBytes = 64 * 1024;
const defaultMessageBytes = 16 * 1024 * 1024;
const refusalBytes = 1024 * 1024;
/** A peer that is gone without a word is found out by the kernel. */
const keepAliveMs = 30_000;

/** See `upgrade`. */
export function openSocket(
  { proxyFor, ca }: Pick<Transport, 'proxyFor' | 'ca'>,
  { url, headers, timeoutMs, signal, protocols = [], maxMessageBytes = defaultMessageBytes }: SocketRequest,
): Promise<ClientSocket | TransportResponse> {
  const address = url.replace(/^http/, 'ws');
  const proxy = proxyFor?.(url);
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(transportFailure(signal.reason, url, signal));
    const socket = new WebSocket(address, [...protocols], {
      ...(proxy !== undefined && { agent: tunnelAgent(proxy, address) }),
      ...(ca && { ca: [...ca] }),
      headers: { ...headers },
      handshakeTimeout: timeoutMs,
      maxPayload: maxMessageBytes,
      perMessageDeflate: false,
    });
    const abort = () => socket.terminate();
    const settled = () => signal?.removeEventListener('abort', abort);
    const failed = (error: unknown) => {
      settled();
      const isLate = error instanceof Error && error.message === 'Opening handshake has timed out';
      reject(transportFailure(isLate ? new DOMException(error.message, 'TimeoutError') : error, url, signal));
    };
    signal?.addEventListener('abort', abort);
    socket.once('error', failed);
    let head: IncomingMessage | undefined;
    socket.once('upgrade', (response) => (head = response));
    socket.once('open', () => {
      settled();
      socket.off('error', failed);
      head?.socket.setKeepAlive(true, keepAliveMs);
      resolve(new OpenSocket(socket, url, head ? incomingAnswer(head).headers : {}, signal));
    });
    socket.once('unexpected-response', (_, response) => {
      void readRefusal(response).then((refusal) => {
        settled();
        socket.on('error', () => undefined).terminate();
        resolve(refusal);
      }, failed);
    });
  });
}

/** All of it, so that no connection waits for somebody to read on. */
async function readRefusal(response: IncomingMessage): Promise<TransportResponse> {
  const answer = incomingAnswer(response);
  const text = await answer.text(refusalBytes);
  const stream = async function* () {
    yield Buffer.from(text);
  };
  return { ...answer, text: () => Promise.resolve(text), stream };
}

class OpenSocket implements ClientSocket {
  readonly status = 101;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: string;
  readonly ended: Promise<SocketEnd>;
  readonly #socket: WebSocket;
  readonly #url: string;
  readonly #signal: AbortSignal | undefined;
  readonly #waiting: SocketMessage[] = [];
  #waitingBytes = 0;
  #end: SocketEnd | undefined;
  #failure: Error | undefined;
  #isRead = false;
  #isDiscarding = false;
  #onChange: (() => void) | undefined;

  constructor(socket: WebSocket, url: string, headers: ClientSocket['headers'], signal?: AbortSignal) {
    this.#socket = socket;
    this.#url = url;
    this.#signal = signal;
    this.headers = headers;
    this.protocol = socket.protocol;
    signal?.addEventListener('abort', this.#abort);
    socket.on('error', (error) => (this.#failure = error));
    socket.on('message', (data: Buffer, isBinary) =>
      this.#take(isBinary ? data : data.toString('utf8'), data),
    );
    this.ended = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        signal?.removeEventListener('abort', this.#abort);
        this.#end = { code, reason: reason.toString('utf8') };
        this.#onChange?.();
        resolve(this.#end);
      });
    });
  }

  send(message: SocketMessage | Readonly<Record<string, unknown>>): Promise<void> {
    const data =
      typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message);
    return new Promise((resolve, reject) => {
      this.#socket.send(data, (error) => {
        if (error) reject(this.#broken(this.#failure ?? error));
        else resolve();
      });
    });
  }

  close(code = 1000, reason = ''): Promise<SocketEnd> {
    this.#socket.close(code, reason);
    // The close that answers comes behind all that nobody reads.
    if (!this.#isRead) this.#discard();
    return this.ended;
  }

  drop(): void {
    this.#socket.terminate();
    this.#discard();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SocketMessage, void> {
    this.#isRead = true;
    try {
      for (;;) {
        const message = this.#waiting.shift();
        if (message !== undefined) {
          if (this.#waiting.length === 0) this.#flow();
          yield message;
        } else if (this.#signal?.aborted === true)
          throw transportFailure(this.#signal.reason, this.#url, this.#signal);
        else if (this.#end?.code === 1006) throw this.#broken(this.#failure);
        else if (this.#end) return;
        else await new Promise<void>((resolve) => (this.#onChange = resolve));
      }
    } finally {
      if (!this.#end) {
        this.#socket.close(1000);
        this.#discard();
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#end) return;
    this.#socket.close(1000);
    this.#discard();
    await this.ended;
  }

  #take(message: SocketMessage, { length }: Buffer): void {
    if (this.#isDiscarding) return;
    this.#waiting.push(message);
    this.#waitingBytes += length;
    if (this.#waitingBytes > maxWaitingBytes) this.#socket.pause();
    this.#onChange?.();
  }

  #discard(): void {
    this.#isDiscarding = true;
    this.#waiting.length = 0;
    this.#flow();
  }

  #flow(): void {
    this.#waitingBytes = 0;
    this.#socket.resume();
  }

  readonly #abort = (): void => {
    this.#socket.close(1000);
    this.#discard();
    this.#onChange?.();
  };

  #broken(cause: unknown): TransportError {
    const { origin } = new URL(this.#url);
    const why = cause instanceof Error ? `: ${cause.message}` : '';
    return new TransportError('unreachable', `${origin} broke off the WebSocket${why}`, { cause });
  }
}
