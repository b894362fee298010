import type { SocketListener, StreamSocket } from '@sallyport/bridge/server';
import type { RawData, WebSocket } from 'ws';

/** A `ws` socket as the engine's port. A class: there are thousands, and closures of an object's own are many times as large. */
class WsStreamSocket implements StreamSocket {
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount;
  }

  send(text: string, sent: () => void): void {
    this.#socket.send(text, () => sent());
  }

  ping(): void {
    this.#socket.ping();
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  listen(listener: SocketListener): void {
    this.#socket
      .on('message', (data: RawData, isBinary: boolean) =>
        listener.message(isBinary ? undefined : textOf(data)),
      )
      .on('pong', () => listener.pong())
      .on('close', () => listener.closed());
  }
}

export function toStreamSocket(socket: WebSocket): StreamSocket {
  return new WsStreamSocket(socket);
}

function textOf(data: RawData): string {
  if (Buffer.isBuffer(data)) return data.toString();
  return Array.isArray(data) ? Buffer.concat(data).toString() : Buffer.from(data).toString();
}
