import type { Socket } from 'node:net';
import { closeCodes, type SocketListener } from '@sallyport/bridge/server';
import type { GrantListener } from '@sallyport/core';
import { WebSocket, type RawData } from 'ws';
import type { AcceptedSocket, Opening, OpenSocketOptions } from './accepted-socket.ts';
import { grantOf, sinceOf, tokenOf } from './callers.ts';
import type { OpenStream } from './drain.ts';
import { connectionEnded, type EndListener } from './ending.ts';
import { pieces } from './pieces.ts';

/** How long a client has to answer the closing frame. */
const closingMs = 1000;

/**
 * A WebSocket as the engines have it: what listens to it is an object, the drain ends it, and so does the end of what its
 * caller's credential stands on. One object is all of it: there are thousands.
 */
export class OpenSocket extends WebSocket implements AcceptedSocket, OpenStream, GrantListener {
  /** What carries it. */
  connection: Socket | undefined;
  permission: string | undefined;
  tokenId: string | undefined;
  #listener: SocketListener | undefined;
  #grantId: string | undefined;
  #endListeners: readonly EndListener[] = [];
  #options: OpenSocketOptions | undefined;

  open({ caller, permission, endListeners }: Opening, options: OpenSocketOptions): void {
    this.permission = permission;
    this.tokenId = tokenOf(caller);
    this.#grantId = grantOf(caller);
    this.#endListeners = endListeners;
    this.#options = options;
    this.on('close', OpenSocket.#onClose);
    if (this.#grantId !== undefined) options.grants?.watch(this.#grantId, this, sinceOf(caller));
    options.drain.add(this);
  }

  get bytesRead(): number {
    return this.connection?.bytesRead ?? 0;
  }

  /** In fragments where it is large. */
  sendText(text: string, taken: () => void): void {
    const fragments = pieces(text);
    for (const [i, fragment] of fragments.entries())
      this.send(fragment, { binary: false, fin: i === fragments.length - 1 }, taken);
  }

  listen(listener: SocketListener): void {
    this.#listener = listener;
    this.on('message', OpenSocket.#onMessage).on('pong', OpenSocket.#onPong);
  }

  end(): void {
    this.close(closeCodes.serviceRestart, 'service restart');
  }

  /** Its client may not be here any more: what it still sends is not heard. */
  revoked(): void {
    this.removeAllListeners('message');
    this.close(closeCodes.revoked, 'revoked');
    const late = this.#options?.clock.after(closingMs, () => this.terminate());
    this.once('close', () => late?.cancel());
  }

  #closed(): void {
    this.#listener?.closed();
    if (this.#grantId !== undefined) this.#options?.grants?.unwatch(this.#grantId, this);
    this.#options?.drain.remove(this);
    connectionEnded(this.#endListeners);
  }

  // Functions that all share: `ws` calls them on the socket.

  static #onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
    if (this instanceof OpenSocket) this.#listener?.message(isBinary ? undefined : textOf(data));
  }

  static #onPong(this: WebSocket): void {
    if (this instanceof OpenSocket) this.#listener?.pong();
  }

  static #onClose(this: WebSocket): void {
    if (this instanceof OpenSocket) this.#closed();
  }
}

function textOf(data: RawData): string {
  if (Buffer.isBuffer(data)) return data.toString();
  return Array.isArray(data) ? Buffer.concat(data).toString() : Buffer.from(data).toString();
}
