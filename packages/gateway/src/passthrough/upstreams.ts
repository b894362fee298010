import type { Clock, Log } from '@sallyport/core';
import {
  Http1Client,
  type AnswerHandler,
  type Client,
  type Dispatch,
  type Outgoing,
} from '@sallyport/core/http1';
import type { Config } from '../config/schema.ts';
import type { ConfiguredUpstream } from '../config/upstreams.ts';
import { breakerStats, type Stat } from '../metrics/sources.ts';
import { NotReady, type Checks } from '../plugins/health.ts';
import { authoritiesOf } from './authorities.ts';
import { createBreaker, type Breaker, type BreakerChange, type BreakerState } from './breaker.ts';
import { undiciClient } from './over-undici.ts';
import { createRetryBudget, type RetryBudget } from './retry-budget.ts';

/** A service that requests pass through to. Those of one origin share connections, breaker and retries. */
export interface Upstream {
  readonly origin: string;
  /** What comes before every path: empty, or `/base`. */
  readonly basePath: string;
  readonly breaker: Breaker;
  readonly retries: RetryBudget;
  readonly dispatch: Dispatch;
}

export interface Upstreams {
  /** By address, as the configuration has it. */
  at(url: string): Upstream;
  /** One for each origin, for `/readyz`. */
  readonly checks: Checks;
  /** The state of each breaker. */
  stats(): readonly Stat[];
  /** Cuts off what is still open. */
  close(): Promise<void>;
}

export type UpstreamOptions = Pick<Config['upstream'], 'connections' | 'connectSeconds'> & {
  readonly clock: Clock;
  readonly log: Log;
};

/** What of an upload may wait for a slow upstream: twice what one read brings, or every read would stop the caller. */
const waitingBytes = 128 * 1024;

/** Those of one origin must be reached in one way. Throws `ConfigError`. */
export function createUpstreams(
  configured: readonly Pick<ConfiguredUpstream, 'url' | 'ca' | 'http2'>[],
  { connections, connectSeconds, clock, log }: UpstreamOptions,
): Upstreams {
  const byOrigin = new Map(configured.map((one) => [new URL(one.url).origin, one]));
  const shared = new Map(
    [...byOrigin].map(([origin, { ca: file, http2 }]) => {
      const ca = authoritiesOf(file);
      const options = { connections, timeoutMs: connectSeconds * 1000, ca, waitingBytes, clock };
      const http1 = new Http1Client(origin, options);
      return [
        origin,
        upstreamAt(origin, http1, http2 ? undiciClient(origin, options) : undefined, { clock, log }),
      ] as const;
    }),
  );
  const clients = [...shared.values()].flatMap((upstream) => upstream.clients);
  return {
    at(url) {
      const { origin, pathname } = new URL(url);
      const found = shared.get(origin);
      if (found === undefined) throw new Error(`There is no upstream ${url}.`);
      return { ...found, basePath: pathname === '/' ? '' : pathname };
    },
    stats: () =>
      breakerStats(
        [...shared.values()].map(({ origin, breaker: { state }, changes }) => ({ origin, state, changes })),
      ),
    checks: Object.fromEntries(
      [...shared.values()].map((upstream) => [`upstream ${upstream.origin}`, () => check(upstream, clock)]),
    ),
    async close() {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

function upstreamAt(
  origin: string,
  http1: Client,
  http2: Client | undefined,
  { clock, log }: Pick<UpstreamOptions, 'clock' | 'log'>,
) {
  const changes: Record<BreakerState, number> = { closed: 0, 'half-open': 0, open: 0 };
  const onChange = (change: BreakerChange) => {
    changes[change.to] += 1;
    tellChange(log, origin, change);
  };
  const dispatch: Dispatch = (request, handler) =>
    (isForHttp1(request) ? http1 : (http2 ?? http1)).dispatch(request, handler);
  return {
    origin,
    clients: http2 ? [http1, http2] : [http1],
    changes,
    breaker: createBreaker({ clock, onChange }),
    retries: createRetryBudget(),
    dispatch: http2 ? dispatch : http1.dispatch,
  };
}

function tellChange(log: Log, origin: string, { from, to, why }: BreakerChange): void {
  const fields = { upstream: origin, from, to };
  if (to === 'open')
    log.warn({ ...fields, err: why }, 'an upstream does not answer: it is given up on for the moment');
  else if (to === 'half-open') log.info(fields, 'an upstream that was given up on is tried');
  else log.info(fields, 'an upstream answers again');
}

/** WebSockets are upgrades of HTTP/1.1 connections; and who speaks HTTP/2 here sends no trailers. */
function isForHttp1({ upgrades, trailers, headers }: Outgoing): boolean {
  return upgrades === true || (trailers !== undefined && announcesTrailers(headers));
}

/** Those that nobody announces may be left out (RFC 9110 6.5). */
function announcesTrailers(headers: Outgoing['headers']): boolean {
  return headers.some((name, i) => i % 2 === 0 && name.length === 7 && name.toLowerCase() === 'trailer');
}

/** Heard from so recently, it need not be asked. */
const freshMs = 10_000;

/**
 * Asks an upstream that has not been heard from. Whoever balances loads sends nothing to a gateway that is not ready: this
 * is then the try that closes a breaker again.
 */
async function check(upstream: Omit<Upstream, 'basePath'>, clock: Clock): Promise<void> {
  const { breaker } = upstream;
  if (breaker.state === 'closed' && breaker.silentMs < freshMs) return;
  if (breaker.admit() > 0) throw new NotReady(`breaker ${breaker.state}`);
  try {
    await ask(upstream, clock);
    breaker.succeeded();
  } catch (error) {
    if (error instanceof NotReady) {
      breaker.released();
      throw error;
    }
    breaker.failed(error);
    throw new NotReady(breaker.state === 'closed' ? 'unreachable' : `breaker ${breaker.state}`);
  }
}

const patienceMs = 1_500;

/** Whatever it answers, it does answer. */
function ask({ dispatch }: Pick<Upstream, 'dispatch'>, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const handler: AnswerHandler = {
      head: () => settle(),
      data: () => undefined,
      end: () => undefined,
      failed: (error) => settle(error),
    };
    const control = dispatch({ method: 'HEAD', path: '/', headers: [], body: null, idleMs: 0 }, handler);
    const late = clock.after(patienceMs, () => {
      const error =
        control.waitsItsTurn === true
          ? new NotReady('all connections are taken')
          : new Error('It does not answer in time.');
      control.abort(error);
      reject(error);
    });
    function settle(error?: Error): void {
      late.cancel();
      if (error) reject(error);
      else resolve();
    }
  });
}
