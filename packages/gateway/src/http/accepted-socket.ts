import type { StreamSocket } from '@sallyport/bridge/server';
import type { Clock, Grants } from '@sallyport/core';
import type { AnyCaller } from './callers.ts';
import type { Drain } from './drain.ts';
import type { EndListener } from './ending.ts';

export interface OpenSocketOptions {
  readonly clock: Clock;
  readonly drain: Drain;
  readonly grants?: Grants;
}

export interface Opening {
  readonly caller: AnyCaller;
  /** What the caller has to be allowed for as long as it lasts. */
  readonly permission: string | undefined;
  readonly endListeners: readonly EndListener[];
}

/** A WebSocket that has just been made of a connection, whatever library did. */
export interface AcceptedSocket extends StreamSocket {
  /** Has it ended when its time has come; `endListeners` are told once it is gone. */
  open(opening: Opening, options: OpenSocketOptions): void;
}
