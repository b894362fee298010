import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';

/** A request on its way through. */
export interface Passing {
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  readonly id: string;
  readonly log: Pick<FastifyBaseLogger, 'warn'>;
  /** What Fastify knows of it, where it came that way. */
  readonly request?: FastifyRequest;
  /** There is an answer to pass on: who has it writes it. */
  taken(): void;
  /** There is none, for this reason. */
  refuse(error: unknown): void;
}

export class ThroughFastify implements Passing {
  readonly request: FastifyRequest;
  readonly #reply: FastifyReply;

  constructor(request: FastifyRequest, reply: FastifyReply) {
    this.request = request;
    this.#reply = reply;
  }

  get raw(): IncomingMessage {
    return this.request.raw;
  }
  get response(): ServerResponse {
    return this.#reply.raw;
  }
  get id(): string {
    return this.request.id;
  }
  get log(): FastifyBaseLogger {
    return this.request.log;
  }

  taken(): void {
    this.#reply.hijack();
  }

  refuse(error: unknown): void {
    void this.#reply.send(error);
  }
}
