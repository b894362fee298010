import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnyCaller } from './callers.ts';
import { CallSignal } from './call-signal.ts';
import type { Parts } from './validation.ts';

export interface CallOptions {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly parts: Parts;
  readonly readmit: () => Promise<AnyCaller>;
  /** Ends the call: that of the drain, but for what lasts. */
  readonly ending: AbortSignal | undefined;
}

/** A call whose row is only known at run time; `Handlers` has the types row by row. */
export class Call implements Parts {
  readonly caller: AnyCaller;
  readonly headers: unknown;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly readmit: () => Promise<AnyCaller>;
  readonly #ending: AbortSignal | undefined;
  #signal: CallSignal | undefined;

  constructor({ request, reply, parts, readmit, ending }: CallOptions) {
    this.caller = request.caller;
    this.headers = parts.headers;
    this.params = parts.params;
    this.query = parts.query;
    this.body = parts.body;
    this.request = request;
    this.reply = reply;
    this.readmit = readmit;
    this.#ending = ending;
  }

  get requestId(): string {
    return this.request.id;
  }

  get log(): FastifyRequest['log'] {
    return this.request.log;
  }

  /** Made for those who ask: most calls are answered before anybody could hang up, and a signal costs more than a route. */
  get signal(): AbortSignal {
    return this.#made.signal;
  }

  /** Aborts the signal. */
  end(): void {
    this.#made.end();
  }

  get #made(): CallSignal {
    return (this.#signal ??= new CallSignal(this.reply.raw, this.#ending));
  }
}
