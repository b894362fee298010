import type { TokenSource } from '@sallyport/core';
import type { FastifyRequest } from 'fastify';
import type { CredentialRule } from '../config/credentials.ts';
import { slowBodyMs } from '../http/admission.ts';
import type { BodyBudget } from '../http/body-budget.ts';
import { whenEnded } from '../http/ending.ts';
import type { UpgradeRouter } from '../http/upgrades.ts';
import type { Meter } from '../metrics/traffic.ts';
import type { Surroundings } from './answer.ts';
import { checkCircle } from './circle.ts';
import type { Conformance } from './conformance.ts';
import { Exchange } from './exchange.ts';
import { loginEnded } from './failures.ts';
import { requestHeadersBy, requestTrailers } from './headers.ts';
import type { Inspect } from './inspection.ts';
import type { Outbound } from './outbound.ts';
import type { Passing } from './passing.ts';
import { targetOf } from './target.ts';
import { bodyOf, Upload, type Collected } from './upload.ts';
import type { Upstream } from './upstreams.ts';
import { splice, watchForEnd } from './websocket.ts';

/** Passes a request on, and its answer back. Throws, or rejects, where it cannot be passed on at all. */
export type Forwarder = (passing: Passing, arrived: number) => void | Promise<void>;

export interface ForwarderOptions extends Surroundings {
  readonly upstream: Upstream;
  readonly credential: CredentialRule;
  /** The gateway's own login, where the rule is that. */
  readonly login?: TokenSource | undefined;
  readonly trustProxy: boolean;
  readonly upgrades: UpgradeRouter;
  readonly bodies: BodyBudget;
  readonly meter: Meter;
  readonly maxBodyBytes: number;
  readonly headersMs: number;
  readonly idleMs: number;
  /** Whether the caller's credential is a worker's, which the upstream has given out. */
  readonly isWorkers?: boolean;
  /** Whether even a GET hands something out for good. */
  readonly isHandedOut?: boolean;
  /** See `targetOf`. */
  readonly inFamily?: boolean;
  readonly isEndless?: boolean;
  readonly conformance?: Conformance | undefined;
  readonly inspect?: Inspect | undefined;
  /** Refuses who may not call any more, where callers are checked here. */
  readonly readmission?: ((request: FastifyRequest) => Promise<unknown>) | undefined;
}

export function createForwarder(options: ForwarderOptions): Forwarder {
  const { upstream, upgrades, drain, clock, headersMs, idleMs, maxBodyBytes, meter } = options;
  const { isHandedOut = false, inFamily = false, isEndless = false, isWorkers = false } = options;
  const { conformance, inspect, readmission } = options;
  const requestHeaders = requestHeadersBy({ ...options, isWorkers, isInspected: inspect !== undefined });
  const { credential } = options;
  const login = credential.kind === 'login' && !isWorkers ? options.login : undefined;

  /** Rejects with what the caller is told. */
  async function bearerOf(request?: Parameters<TokenSource['token']>[0]): Promise<string | undefined> {
    return login?.token(request).catch((error: unknown) => {
      throw credential.kind === 'login' ? loginEnded(error, credential.at) : error;
    });
  }

  function switchFor({ raw, id }: Passing): NonNullable<Outbound['upgrade']> {
    const endWatch = watchForEnd(raw.socket);
    return (headers, socket) => {
      endWatch();
      splice(upgrades.take(raw), socket, { raw: headers, requestId: id, drain, meter });
    };
  }

  function collectedFor({ response }: Passing, { collected }: Conformance): Collected {
    const held = options.bodies.hold();
    whenEnded(response, { ended: () => held.release() });
    return { ...collected, held };
  }

  function send(passing: Passing, path: string, body: Outbound['body'], bearer?: string): void {
    const { raw, id } = passing;
    const held = heldMs(path);
    new Exchange(
      passing,
      {
        upstream,
        path,
        headers: requestHeaders(raw, id, bearer),
        body,
        trailers: body instanceof Upload ? () => requestTrailers(raw) : undefined,
        headersMs: headersMs + held,
        idleMs,
        isSafe: !isHandedOut && safeMethods.has(raw.method ?? ''),
        isEndless,
        isHeld: held > 0,
        meter,
        inspect,
        renew: login && (() => renewed(passing, bearer)),
        upgrade: upgrades.isUpgrade(raw) ? switchFor(passing) : undefined,
      },
      options,
    ).start();
  }

  async function renewed({ raw, id }: Passing, bearer?: string): Promise<string[]> {
    const refused = bearer === undefined ? {} : { refused: bearer };
    return requestHeaders(raw, id, await bearerOf({ forceRefresh: true, ...refused }));
  }

  /** What has to wait: for a body that is sent in one piece, for the token of the gateway's own login. */
  async function sendLater(
    passing: Passing,
    path: string,
    { body, arrived }: { readonly body: Promise<Buffer> | Upload | null; readonly arrived: number },
  ): Promise<void> {
    const began = clock.monotonic();
    const ready = await body;
    const waited = clock.monotonic() - began;
    if (waited >= slowBodyMs && passing.request) await readmission?.(passing.request);
    if (Buffer.isBuffer(ready)) meter.receivedBytes += ready.length;
    if (passing.request) conformance?.request(passing.request, ready instanceof Upload ? undefined : ready);
    const bearer = await bearerOf().catch((error: unknown) => {
      if (ready instanceof Upload) ready.destroy();
      throw error;
    });
    meter.gatewaySeconds.observe((clock.monotonic() - arrived - waited) / 1000);
    send(passing, path, ready, bearer);
  }

  return (passing, arrived) => {
    const { raw } = passing;
    checkCircle(raw);
    const path = targetOf(raw.url ?? '/', inFamily);
    const body = bodyOf(raw, maxBodyBytes, conformance && collectedFor(passing, conformance));
    if (login !== undefined || conformance !== undefined || body instanceof Promise)
      return sendLater(passing, path, { body, arrived });
    meter.gatewaySeconds.observe((clock.monotonic() - arrived) / 1000);
    return send(passing, path, body);
  };
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** How long the caller asks for the answer to be held back. */
function heldMs(path: string): number {
  const asked = path.includes('block_ms=') ? /[?&]block_ms=(\d{1,5})(?:&|$)/.exec(path)?.[1] : undefined;
  return Math.min(Number(asked ?? 0), 60_000);
}
