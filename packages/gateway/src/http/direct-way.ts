import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Ids } from '@sallyport/core';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { AccessLog } from '../plugins/access-log.ts';
import { DirectRoutes } from './direct-routes.ts';
import { ambiguityOf } from './framing.ts';
import { requestIdOf } from './request-id.ts';

interface Refused {
  readonly id: string;
  readonly error: unknown;
}

/**
 * The way past Fastify, for requests of which nothing is asked that it would do: what it builds for each costs as much as all
 * that the gateway does for them. What has to be refused goes to Fastify after all, so that refusals have one form.
 */
export class DirectWay {
  readonly #routes = new DirectRoutes();
  readonly #refused = new WeakMap<IncomingMessage, Refused>();
  readonly #app: FastifyInstance;
  readonly #ids: Ids;
  readonly #accessLog: AccessLog;

  constructor(app: FastifyInstance, ids: Ids, accessLog: AccessLog) {
    this.#app = app;
    this.#ids = ids;
    this.#accessLog = accessLog;
  }

  /** Must be called before the routes are registered. */
  follow(): void {
    this.#app.addHook('onRoute', ({ method, url, config }) => {
      for (const one of [method].flat()) this.#routes.add(one, url, config?.direct);
    });
    this.#app.addHook('onRequest', (request, _reply, done) => {
      const refused = this.#refused.get(request.raw);
      if (refused) done(refused.error as Error);
      else done();
    });
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    const { url = '/', method = 'GET' } = request;
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    const direct = ambiguityOf(request) === undefined ? this.#routes.find(method, path) : undefined;
    if (direct) direct(request, response);
    else this.leave(request, response);
  }

  /** Leaves to Fastify what has not begun here. */
  leave(request: IncomingMessage, response: ServerResponse): void {
    this.#app.routing(request, response);
  }

  /** Begins to serve a request without Fastify, and gives its id. `row`: the contract's, for the access log. */
  begin(request: IncomingMessage, response: ServerResponse, row: string | undefined): string {
    const id = requestIdOf(request, this.#ids);
    this.#accessLog.follow(request, response, { id, row });
    return id;
  }

  logOf(id: string): FastifyBaseLogger {
    return this.#app.log.child({ request_id: id });
  }

  refuse(request: IncomingMessage, response: ServerResponse, refused: Refused): void {
    this.#refused.set(request, refused);
    this.#app.routing(request, response);
  }

  /** `undefined`: the request has not begun here. */
  idOf(request: IncomingMessage): string | undefined {
    return this.#refused.get(request)?.id;
  }
}
