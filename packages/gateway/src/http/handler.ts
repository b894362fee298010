import type { IncomingMessage } from 'node:http';
import type { Contract, Endpoint, RequestOf, ResponseOf } from '@sallyport/core/contract';
import type { StreamSocket } from '@sallyport/bridge/server';
import type { Log } from '@sallyport/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, SignedInCaller, WorkerCaller } from './callers.ts';

export type CallerOf<E extends Endpoint> = E['auth'] extends 'access_token'
  ? Caller
  : E['auth'] extends 'session_key'
    ? SignedInCaller
    : E['auth'] extends 'ingress'
      ? WorkerCaller
      : E['auth'] extends 'optional'
        ? Caller | SignedInCaller | undefined
        : undefined;

/** Raw where the handler decodes it: see `readBody`. */
type BodyOf<E extends Endpoint> = E extends { readonly encodings: readonly (infer Name)[] }
  ? 'multipart' extends Name
    ? IncomingMessage
    : 'protobuf' extends Name
      ? Uint8Array
      : RequestOf<E>['body']
  : RequestOf<E>['body'];

/** A request that has passed the checks of its row. */
export interface HandlerCall<E extends Endpoint> extends Omit<RequestOf<E>, 'body'> {
  readonly body: BodyOf<E>;
  readonly caller: CallerOf<E>;
  readonly requestId: string;
  /** Aborts when the caller hangs up, or when the gateway drains; a stream's when its turn to end has come. */
  readonly signal: AbortSignal;
  /** Who the caller is by now, for what takes long; throws where it may not call any more. */
  readonly readmit: () => Promise<CallerOf<E>>;
  readonly log: Log;
  readonly request: FastifyRequest;
  /** For headers of the answer only; the body is what the handler returns. */
  readonly reply: FastifyReply;
}

/**
 * An answer that is held back until there is one. Nothing else of the call is kept meanwhile, unless the promise keeps it:
 * there are thousands.
 */
export class Held<T> {
  readonly answer: Promise<T>;

  constructor(answer: Promise<T>) {
    this.answer = answer;
  }
}

/** One server-sent event; without `event` it is a `message`. `data` is sent as JSON. */
export interface SseFrame {
  readonly id?: string;
  readonly event?: string;
  readonly data: unknown;
  /** Runs as the reader takes it, a piece of a large one at a time. */
  readonly taken?: () => void;
}

/** Takes the socket after the upgrade; where the row has an event stream, `events` gives its frames instead. */
export interface SocketTaker {
  (socket: StreamSocket): void;
  readonly events?: () => AsyncIterable<SseFrame>;
}

/**
 * What a handler gives back, by the transport of its row. A stream is refused by the handler's promise: once it has given
 * the iterable or the function, the status is sent.
 */
export type Result<E extends Endpoint> = E['transport'] extends 'sse'
  ? AsyncIterable<SseFrame>
  : E['transport'] extends 'websocket'
    ? SocketTaker
    : E['transport'] extends 'text' | 'page'
      ? string | undefined
      : E extends { readonly encodings: readonly (infer Name)[] }
        ? ResponseOf<E> | ('protobuf' extends Name ? Uint8Array : never)
        : ResponseOf<E>;

export type Handler<E extends Endpoint> = (
  call: HandlerCall<E>,
) => Promise<Result<E> | (E['transport'] extends 'json' ? Held<Result<E>> : never)>;

/** A handler for every row: a missing one is a type error. */
export type Handlers = {
  readonly [A in keyof Contract]: {
    readonly [K in keyof Contract[A]]: Contract[A][K] extends Endpoint ? Handler<Contract[A][K]> : never;
  };
};
