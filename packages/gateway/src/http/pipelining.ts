import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Requests of a connection that may wait behind the one that is being answered. Node reads on while answers are made, and a
 * request that waits takes some 15 KB: a client that sends without reading would have them by the thousand.
 */
export const maxPipelined = 64;

/** Keeps count of requests that came before the connection's earlier ones were answered. */
export class Pipelining {
  readonly #waiting = new WeakMap<Socket, number>();

  /**
   * Whether a request is to be served. After the last that is, the connection is closed: the client sends the others again on
   * another one (RFC 9112 9.3.2, 9.6).
   */
  admits({ socket }: IncomingMessage, response: ServerResponse): boolean {
    // Has the connection to itself.
    if (response.socket !== null && !this.#waiting.has(socket)) return true;
    const waiting = (this.#waiting.get(socket) ?? 0) + 1;
    if (waiting > maxPipelined) {
      socket.pause(); // else Node would read what is not served until the one who does not read hangs up
      return false;
    }
    if (waiting === maxPipelined) response.shouldKeepAlive = false;
    this.#waiting.set(socket, waiting);
    response.once('close', () => this.#leave(socket));
    return true;
  }

  #leave(socket: Socket): void {
    const waiting = this.#waiting.get(socket) ?? 0;
    // What came behind the last one was not served, so nothing is any more.
    if (waiting >= maxPipelined) return;
    if (waiting <= 1) this.#waiting.delete(socket);
    else this.#waiting.set(socket, waiting - 1);
  }
}
