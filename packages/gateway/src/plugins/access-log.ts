import type { Clock } from '@sallyport/core';
import type { FastifyInstance } from 'fastify';
import { loggedUrl } from '../http/log.ts';

/** One line a request, when its answer is out or its stream has ended. */
export function registerAccessLog(app: FastifyInstance, clock: Clock): void {
  app.addHook('onRequest', (request, reply, done) => {
    const started = clock.monotonic();
    const { ip } = request; // gone with the connection
    reply.raw.once('close', () => {
      const { statusCode, writableFinished } = reply.raw;
      request.log.info(
        {
          row: request.routeOptions.config.endpoint?.id,
          method: request.method,
          url: loggedUrl(request.url),
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
