import type { Duplex, Readable } from 'node:stream';

/** A request on its way to a server. */
export interface Outgoing {
  readonly method: string;
  /** Path and query, byte for byte. */
  readonly path: string;
  /** Flat, name and value by turns. How the body is framed is said by the client alone. */
  readonly headers: readonly string[];
  readonly body: Buffer | Readable | null;
  /** What follows a body in chunks; asked for at its end. */
  readonly trailers?: (() => readonly string[]) | undefined;
  /** How long the answer may pause, once it has begun, in milliseconds; 0: any time. */
  readonly idleMs: number;
  /** Whether the connection is to become a WebSocket's. */
  readonly upgrades?: boolean;
}

export interface AnswerHead {
  readonly status: number;
  readonly reason: string;
  /** Flat and in order, name and value by turns, in Latin-1, case and repeats kept. */
  readonly headers: readonly string[];
}

/** The other end of a request that was dispatched. */
export interface Control {
  /** Whether it has not been sent because all connections are taken. */
  readonly waitsItsTurn?: boolean;
  /** No data comes, but for what is here already. */
  pause(): void;
  resume(): void;
  /** Nobody waits for the answer: its handler hears no more. */
  abort(reason: Error): void;
}

/** Is told what comes of a request, never before `dispatch` has returned but for `began`; ends with the last three. */
export interface AnswerHandler {
  /** A connection is at hand: from now on the server may have heard of the request. */
  began?(): void;
  /** A part of a stream was passed on. */
  uploaded?(): void;
  /** All of a stream was passed on. */
  sent?(): void;
  head(head: AnswerHead): void;
  data(chunk: Buffer): void;
  /** All that has come was told: it is to go on, not to wait for more. */
  flush?(): void;
  end(trailers: readonly string[]): void;
  /** Protocols are switched: the connection is the handler's, and comes paused. */
  switched?(head: AnswerHead, socket: Duplex): void;
  failed(error: Error): void;
}

/** Sends a request when there is a connection for it. Throws `MalformedRequest`. */
export type Dispatch = (request: Outgoing, handler: AnswerHandler) => Control;

/** Connections to one server. */
export interface Client {
  readonly dispatch: Dispatch;
  /** Cuts off what is still open. */
  close(): Promise<void>;
}

/** A request that cannot be written as HTTP. */
export class MalformedRequest extends Error {}
