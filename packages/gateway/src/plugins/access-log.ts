import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@sallyport/core';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { isCut } from '../http/cut.ts';
import { whenEnded, type Ending } from '../http/ending.ts';
import { loggedUrl } from '../http/log.ts';

/** What a line says of a request beside what the request says itself. */
export interface Logged {
  readonly id: string;
  readonly row: string | undefined;
}

/** One line a request, when its answer is out or its stream has ended. */
export interface AccessLog {
  follow(request: IncomingMessage, response: ServerResponse, logged: Logged): void;
}

type LevelledLog = FastifyBaseLogger & { isLevelEnabled?(level: string): boolean };

export function createAccessLog(
  log: LevelledLog,
  { clock, trustProxy }: { readonly clock: Clock; readonly trustProxy: boolean },
): AccessLog {
  return {
    follow(request, response, { id, row }) {
      // The level may change while the gateway runs; what nobody reads is not gathered.
      if (log.isLevelEnabled?.('info') === false) return;
      const started = clock.monotonic();
      // The address is gone with the connection, and the request need not last as long as a WebSocket.
      const { method, url = '/' } = request;
      const ip = addressOf(request, trustProxy);
      const trace = traceOf(request);
      // Not the request's own log, which would have to be made for this one line.
      const ended = (ending: Ending) =>
        log.info(
          {
            request_id: id,
            row,
            method,
            url: loggedUrl(url),
            ...trace,
            status: ending.statusCode,
            ms: Math.round(clock.monotonic() - started),
            ip,
            ...(isCut(ending) && { cut: true }),
          },
          'request',
        );
      whenEnded(response, { ended });
    },
  };
}

/** Has the requests of Fastify's logged, but for those of silent routes. */
export function registerAccessLog(
  app: FastifyInstance,
  accessLog: AccessLog,
  isLogged: (request: IncomingMessage) => boolean,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { config, logLevel } = request.routeOptions;
    if (logLevel !== 'silent' && !isLogged(request.raw))
      accessLog.follow(request.raw, reply.raw, { id: request.id, row: config.endpoint?.id });
    done();
  });
}

/** As the proxy before the gateway has it, where there is one: what stands before that is its caller's own word. */
function addressOf({ headers, socket }: IncomingMessage, trustProxy: boolean): string | undefined {
  if (!trustProxy) return socket.remoteAddress;
  const forwarded = [headers['x-forwarded-for'] ?? ''].flat().join(',');
  return forwarded.slice(forwarded.lastIndexOf(',') + 1).trim() || socket.remoteAddress;
}

/** W3C Trace Context: by its trace, a line is found from the caller's side. */
function traceOf({ headers }: IncomingMessage): { readonly trace_id?: string } {
  const given = headers['traceparent'];
  const id = typeof given === 'string' ? /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(given)?.[1] : undefined;
  return id === undefined ? {} : { trace_id: id };
}
