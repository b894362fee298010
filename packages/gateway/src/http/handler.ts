import type { IncomingMessage } from 'node:http';
import type { Contract, Endpoint, RequestOf, ResponseOf } from '@sallyport/core/contract';
import type { Log, Role } from '@sallyport/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OpenSocket } from './open-socket.ts';

/** Who calls with an access token or an API key. */
export interface Caller {
  readonly accountId: string;
  readonly organizationId: string;
  readonly role: Role;
  readonly permissions: readonly string[];
  readonly scopes: readonly string[];
  /** The login (token family) or API key behind the token: what a worker is told apart by where it sends no id. */
  readonly grantId: string;
  /** An access token's own id; a key has none. */
  readonly tokenId?: string;
  readonly isApiKey: boolean;
}

/** Who calls with a session key. */
export interface SessionCaller {
  readonly accountId: string;
  readonly sessionId: string;
}

/** Who calls with a worker's JWT; times in epoch milliseconds. */
export interface WorkerCaller {
  readonly sessionId: string;
  readonly environmentId: string;
  readonly workerId: string;
  readonly epoch: number;
  /** The grant by which the worker got its token. */
  readonly grantId: string;
  readonly expiresAt: number;
}

/** Tells who a credential is of; throws `invalid_token` where it is of nobody. */
export interface Authenticator {
  accessToken(token: string): Promise<Caller>;
  sessionKey(key: string): Promise<SessionCaller>;
  ingress(token: string): Promise<WorkerCaller>;
}

export type CallerOf<E extends Endpoint> = E['auth'] extends 'access_token'
  ? Caller
  : E['auth'] extends 'session_key'
    ? SessionCaller
    : E['auth'] extends 'ingress'
      ? WorkerCaller
      : E['auth'] extends 'optional'
        ? Caller | SessionCaller | undefined
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
  (socket: OpenSocket): void;
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
