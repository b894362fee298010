import type { Clock } from '@sallyport/core';
import { Pool, type Dispatcher } from 'undici';
import type { Config } from '../config/schema.ts';
import { breakerStats, type Stat } from '../metrics/sources.ts';
import { NotReady, type Checks } from '../plugins/health.ts';
import { authoritiesOf } from './authorities.ts';
import { createBreaker, type Breaker } from './breaker.ts';
import { createRetryBudget, type RetryBudget } from './retry-budget.ts';

/** A service that requests pass through to. Those of one origin share connections, breaker and retries. */
export interface Upstream {
  readonly origin: string;
  /** What comes before every path: empty, or `/base`. */
  readonly basePath: string;
  readonly breaker: Breaker;
  readonly retries: RetryBudget;
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void;
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

export type UpstreamOptions = Pick<Config['upstream'], 'connections' | 'connectSeconds' | 'ca' | 'http2'> & {
  readonly clock: Clock;
};

/** What of an upload may wait for a slow upstream: twice what one read brings, or every read would stop the caller. */
const waitingBytes = 128 * 1024;

export function createUpstreams(urls: readonly string[], options: UpstreamOptions): Upstreams {
  const { connections, connectSeconds, http2, clock } = options;
  const ca = authoritiesOf(options.ca);
  const connect = { timeout: connectSeconds * 1000, highWaterMark: waitingBytes, ...(ca && { ca }) };
  const origins = new Set(urls.map((url) => new URL(url).origin));
  const shared = new Map(
    [...origins].map((origin) => {
      const pool = new Pool(origin, { connections, connect, allowH2: http2 });
      // WebSockets are upgrades of HTTP/1.1 connections.
      const upgrades = http2 ? new Pool(origin, { connections, connect, allowH2: false }) : pool;
      return [origin, upstreamAt(origin, pool, upgrades, clock)] as const;
    }),
  );
  const pools = [...shared.values()].flatMap((upstream) => [...upstream.pools]);
  return {
    at(url) {
      const { origin, pathname } = new URL(url);
      const found = shared.get(origin);
      if (found === undefined) throw new Error(`There is no upstream ${url}.`);
      return { ...found, basePath: pathname === '/' ? '' : pathname };
    },
    stats: () =>
      breakerStats([...shared.values()].map(({ origin, breaker }) => ({ origin, state: breaker.state }))),
    checks: Object.fromEntries(
      [...shared.values()].map((upstream) => [`upstream ${upstream.origin}`, () => check(upstream)]),
    ),
    async close() {
      await Promise.all(pools.map((pool) => pool.destroy()));
    },
  };
}

function upstreamAt(origin: string, pool: Pool, upgrades: Pool, clock: Clock) {
  return {
    origin,
    pools: new Set([pool, upgrades]),
    breaker: createBreaker({ clock }),
    retries: createRetryBudget(),
    dispatch: (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) =>
      void (options.upgrade ? upgrades : pool).dispatch(options, handler),
  };
}

/** Heard from so recently, it need not be asked. */
const freshMs = 10_000;

/**
 * Asks an upstream that has not been heard from. Whoever balances loads sends nothing to a gateway that is not ready: this
 * is then the try that closes a breaker again.
 */
async function check(upstream: Omit<Upstream, 'basePath'>): Promise<void> {
  const { breaker } = upstream;
  if (breaker.state === 'closed' && breaker.silentMs < freshMs) return;
  if (breaker.admit() > 0) throw new NotReady(`breaker ${breaker.state}`);
  try {
    await ask(upstream);
    breaker.succeeded();
  } catch {
    breaker.failed();
    throw new NotReady(breaker.state === 'closed' ? 'unreachable' : `breaker ${breaker.state}`);
  }
}

/** Whatever it answers, it does answer. */
function ask({ dispatch }: Pick<Upstream, 'dispatch'>): Promise<void> {
  return new Promise((resolve, reject) => {
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => undefined,
      onResponseStart: () => resolve(),
      onResponseData: () => undefined,
      onResponseEnd: () => undefined,
      onResponseError: (_controller, error) => reject(error),
    };
    dispatch({ method: 'HEAD', path: '/', headersTimeout: 1500 }, handler);
  });
}
