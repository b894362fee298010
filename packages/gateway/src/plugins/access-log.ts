import type { Clock } from '@sallyport/core';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import { loggedUrl } from '../http/log.ts';

/** One line a request, when its answer is out or its stream has ended. */
export function registerAccessLog(app: FastifyInstance, clock: Clock): void {
  const log: FastifyBaseLogger & { isLevelEnabled?(level: string): boolean } = app.log;
  app.addHook('onRequest', (request, reply, done) => {
    // The level may change while the gateway runs; what nobody reads is not gathered.
    if (log.isLevelEnabled?.('info') === false) return done();
    const started = clock.monotonic();
    const { ip } = request; // gone with the connection
    const trace = traceOf(request);
    reply.raw.on('close', () => {
      const { routeOptions } = request;
      if (routeOptions.logLevel === 'silent') return;
      const { statusCode, writableFinished } = reply.raw;
      // Not the request's own log, which would have to be made for this one line.
      log.info(
        {
          request_id: request.id,
          row: routeOptions.config.endpoint?.id,
          method: request.method,
          url: loggedUrl(request.url),
          ...trace,
          status: statusCode,
          ms: Math.round(clock.monotonic() - started),
          ip,
          ...(!writableFinished && statusCode !== 101 && { cut: true }),
        },
        'request',
      );
    });
    done();
  });
}

/** W3C Trace Context: by its trace, a line is found from the caller's side. */
function traceOf({ headers }: FastifyRequest): { readonly trace_id?: string } {
  const given = headers['traceparent'];
  const id = typeof given === 'string' ? /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(given)?.[1] : undefined;
  return id === undefined ? {} : { trace_id: id };
}
