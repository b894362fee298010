import type { Clock } from '@sallyport/core';

/** What one request left of its budget. */
export interface Budget {
  readonly allowed: boolean;
  readonly perMinute: number;
  readonly remaining: number;
  /** Milliseconds until the next request is allowed; 0 when it is now. */
  readonly retryAfterMs: number;
  /** Milliseconds until the budget is whole again. */
  readonly resetMs: number;
}

export interface RateLimiter {
  /** Takes one request off `who`'s budget at `row`; `undefined` where the row has no limit. */
  take(row: string, who: string): Budget | undefined;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** Token buckets in memory: a minute's worth at once, refilled evenly. The least recently used are forgotten first. */
export function createRateLimiter(
  clock: Clock,
  perMinuteByRow: Readonly<Record<string, number>>,
  maxBuckets = 50_000,
): RateLimiter {
  const buckets = new Map<string, Bucket>();
  return {
    take(row, who) {
      const perMinute = perMinuteByRow[row] ?? perMinuteByRow['default'] ?? 0;
      if (perMinute === 0) return undefined;
      const key = `${row} ${who}`;
      const now = clock.monotonic();
      const msPerToken = 60_000 / perMinute;
      const old = buckets.get(key) ?? { tokens: perMinute, at: now };
      const tokens = Math.min(perMinute, old.tokens + (now - old.at) / msPerToken);
      const allowed = tokens >= 1;
      const left = allowed ? tokens - 1 : tokens;
      buckets.delete(key); // and in again at the end: the map's order is that of use
      buckets.set(key, { tokens: left, at: now });
      const oldest = buckets.keys().next().value;
      if (buckets.size > maxBuckets && oldest !== undefined) buckets.delete(oldest);
      return {
        allowed,
        perMinute,
        remaining: Math.floor(left),
        retryAfterMs: allowed ? 0 : (1 - left) * msPerToken,
        resetMs: (perMinute - left) * msPerToken,
      };
    },
  };
}

/** IETF draft httpapi-ratelimit-headers, as structured fields. */
export function rateLimitHeaders({ perMinute, remaining, resetMs }: Budget): Record<string, string> {
  return {
    'ratelimit-policy': `"default";q=${perMinute};w=60`,
    ratelimit: `"default";r=${remaining};t=${Math.ceil(resetMs / 1000)}`,
  };
}
