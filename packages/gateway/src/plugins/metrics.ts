import { createHash, timingSafeEqual } from 'node:crypto';
import { isLoopback, ServiceError } from '@sallyport/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Exposition } from '../metrics/exposition.ts';
import type { StatSource } from '../metrics/sources.ts';
import type { Traffic } from '../metrics/traffic.ts';

export interface MetricsOptions {
  readonly traffic: Traffic;
  readonly sources: readonly StatSource[];
  /** Who has it may read; without one, programs on this machine may. */
  readonly token?: string | undefined;
}

/** `/metrics`: of this process, like `/healthz`, so it never goes upstream, whatever the areas do. */
export function registerMetrics(app: FastifyInstance, { traffic, sources, token }: MetricsOptions): void {
  let exposition: Promise<Exposition> | undefined;
  app.get('/metrics', { logLevel: 'silent' }, async (request, reply) => {
    checkReader(request, token);
    // Who is never asked does not load what renders the answer.
    exposition ??= import('../metrics/exposition.ts').then(({ createExposition }) =>
      createExposition(traffic, () => sources),
    );
    const now = await exposition;
    void reply.type(now.contentType).header('cache-control', 'no-store');
    return now.text();
  });
}

const proxyHeaders = [
  'forwarded',
  'via',
  'x-real-ip',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
];

function checkReader({ headers, raw }: FastifyRequest, token: string | undefined): void {
  if (token !== undefined) {
    const sent = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    if (sent !== undefined && timingSafeEqual(digest(sent), digest(token))) return;
    throw new ServiceError('invalid_token', 'This needs the token of metrics.token: Authorization: Bearer.');
  }
  // A proxy on this machine speaks for others; one that does not say so leaves the name that it was asked by, as does a
  // browser that was told that a site is at this address.
  const isForOthers = proxyHeaders.some((name) => headers[name] !== undefined);
  const { hostname = '' } = URL.parse(`http://${headers.host ?? ''}`) ?? {};
  const address = raw.socket.remoteAddress?.replace(/^::ffff:/, '') ?? '';
  if (isLoopback(address) && isLoopback(hostname) && !isForOthers) return;
  throw new ServiceError(
    'forbidden',
    'Metrics are for programs on the same machine, unless metrics.token is set.',
  );
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
