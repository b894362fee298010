import { closeCodes } from '@sallyport/bridge/server';
import type { Clock, Grants } from '@sallyport/core';
import type { WebSocket } from 'ws';
import type { AnyCaller } from './admission.ts';
import type { Drain, OpenStream } from './drain.ts';
import { revoke, watchGrant } from './revocation.ts';

export interface OpenSocketOptions {
  readonly clock: Clock;
  readonly drain: Drain;
  readonly grants?: Grants;
}

/**
 * A WebSocket while it is open: the drain ends it, and the end of what its caller's credential stands on. An object, and
 * not functions with what they name around them: there are thousands.
 */
export class OpenSocket implements OpenStream {
  readonly #socket: WebSocket;
  readonly #leaveDrain: () => void;
  readonly #unwatch: () => void;
  readonly #ended: () => void;

  constructor(socket: WebSocket, caller: AnyCaller, ended: () => void, options: OpenSocketOptions) {
    const { clock, drain, grants } = options;
    this.#socket = socket;
    this.#ended = ended;
    this.#unwatch = watchGrant(grants, caller, () => revoke(socket, clock));
    this.#leaveDrain = drain.add(this);
    socket.on('close', () => this.#closed());
  }

  end(): void {
    this.#socket.close(closeCodes.serviceRestart, 'service restart');
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #closed(): void {
    this.#unwatch();
    this.#leaveDrain();
    this.#ended();
  }
}
