import { ServiceError } from '@sallyport/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CredentialRule } from '../config/destinations.ts';
import type { UpgradeRouter } from '../http/upgrades.ts';
import { Exchange, type Outbound, type Surroundings } from './exchange.ts';
import { isInCircle, requestHeadersBy } from './headers.ts';
import { targetOf } from './target.ts';
import { bodyOf, Upload } from './upload.ts';
import type { Upstream } from './upstreams.ts';
import { splice, watchForEnd } from './websocket.ts';

/** Passes a request on, and its answer back. Throws where it cannot be passed on at all. */
export type Forwarder = (request: FastifyRequest, reply: FastifyReply) => void;

export interface ForwarderOptions extends Surroundings {
  readonly upstream: Upstream;
  readonly credential: CredentialRule;
  readonly trustProxy: boolean;
  readonly upgrades: UpgradeRouter;
  readonly maxBodyBytes: number;
  readonly headersMs: number;
  readonly idleMs: number;
  /** Whether the caller's credential is a worker's, which the upstream has given out. */
  readonly isWorkers?: boolean;
  /** Whether even a GET hands something out for good. */
  readonly isHandedOut?: boolean;
  readonly isEndless?: boolean;
}

export function createForwarder(options: ForwarderOptions): Forwarder {
  const { upstream, upgrades, drain, headersMs, idleMs, maxBodyBytes } = options;
  const { isHandedOut = false, isEndless = false, isWorkers = false } = options;
  const requestHeaders = requestHeadersBy({ ...options, isWorkers });

  function switchFor({ raw, id }: FastifyRequest): NonNullable<Outbound['upgrade']> {
    const endWatch = watchForEnd(raw.socket);
    return (headers, socket) => {
      endWatch();
      splice(upgrades.take(raw), socket, { raw: headers, requestId: id, drain });
    };
  }

  return (request, reply) => {
    const { raw } = request;
    checkFraming(raw);
    const path = targetOf(request.url);
    const body = bodyOf(raw, maxBodyBytes);
    const held = heldMs(path);
    const send = (ready: Outbound['body']) => {
      const outbound: Outbound = {
        upstream,
        path,
        headers: requestHeaders(raw, request.id),
        body: ready,
        headersMs: headersMs + held,
        idleMs,
        isSafe: !isHandedOut && safeMethods.has(request.method),
        isEndless,
        isHeld: held > 0,
        ...(upgrades.isUpgrade(raw) && { upgrade: switchFor(request) }),
      };
      new Exchange(request, reply, outbound, options).start();
    };
    if (body === null || body instanceof Upload) send(body);
    else void body.then(send);
  };
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Refuses what proxies and servers are known to read in two ways, and what came through here before. */
function checkFraming({ headers, rawHeaders }: FastifyRequest['raw']): void {
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw new ServiceError('invalid_request', 'The only transfer encoding is chunked.');
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts++;
  if (hosts > 1) throw new ServiceError('invalid_request', 'There is more than one Host header.');
  if (isInCircle(headers))
    throw new ServiceError(
      'upstream_unreachable',
      'The request goes in a circle: an upstream of this gateway leads back to it.',
    );
}

/** How long the caller asks for the answer to be held back. */
function heldMs(path: string): number {
  const asked = path.includes('block_ms=') ? /[?&]block_ms=(\d{1,5})(?:&|$)/.exec(path)?.[1] : undefined;
  return Math.min(Number(asked ?? 0), 60_000);
}
