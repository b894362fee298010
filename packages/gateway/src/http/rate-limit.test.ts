import { ManualClock } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { serve } from '../../test/serve.ts';
import { createRateLimiter } from './rate-limit.ts';

test('allows a minute at once, refills evenly, and keeps callers apart', async () => {
  const clock = new ManualClock();
  const limiter = createRateLimiter(clock, { default: 60 });
  for (let left = 59; left >= 0; left--)
    expect(limiter.take('row', 'a')).toMatchObject({ allowed: true, remaining: left });
  expect(limiter.take('row', 'a')).toMatchObject({ allowed: false, retryAfterMs: 1000, remaining: 0 });
  expect(limiter.take('row', 'b')?.allowed).toBe(true);
  expect(limiter.take('other', 'a')?.allowed).toBe(true);
  await clock.advance(999);
  expect(limiter.take('row', 'a')?.allowed).toBe(false);
  await clock.advance(1);
  expect(limiter.take('row', 'a')?.allowed).toBe(true);
  await clock.advance(3_600_000);
  expect(limiter.take('row', 'a')?.remaining).toBe(59);
});

test('0 is no limit, and memory is bounded: the least recently seen is forgotten', () => {
  const limiter = createRateLimiter(new ManualClock(), { default: 1, free: 0 }, 2);
  expect(limiter.take('free', 'a')).toBeUndefined();
  limiter.take('row', 'a');
  limiter.take('row', 'b');
  limiter.take('row', 'a');
  limiter.take('row', 'c');
  expect(limiter.take('row', 'a')?.allowed).toBe(false);
  expect(limiter.take('row', 'b')?.allowed).toBe(true);
});

test('answers 429 by token, after identity and before the body, with the headers of the draft', async () => {
  const clock = new ManualClock();
  await using served = await serve({}, { clock, rateLimits: { default: 600, 'devices.trust': 2 } });
  const trust = (token: string) =>
    fetch(`${served.url}/api/auth/trusted_devices`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
      body: 'x',
    });
  const first = await trust('access-1');
  expect([first.status, first.headers.get('ratelimit'), first.headers.get('ratelimit-policy')]).toEqual([
    415,
    '"default";r=1;t=30',
    '"default";q=2;w=60',
  ]);
  await trust('access-1');
  const third = await trust('access-1');
  expect([third.status, third.headers.get('retry-after')]).toEqual([429, '30']);
  expect(await third.json()).toMatchObject({ error: 'rate_limited' });
  expect((await trust('access-2')).status).toBe(415);
  expect((await trust('nobody')).status).toBe(401);
});

test('limits only rows that list 429, and leaves those that present credentials to the authorization server', async () => {
  await using served = await serve({}, { rateLimits: { default: 1 } });
  for (const [path, status] of [
    ['/v1/sessions', 501],
    ['/v1/oauth/token', 400],
  ] as const) {
    for (let round = 0; round < 3; round++) {
      const answer = await fetch(served.url + path, {
        ...(path.endsWith('token') && { method: 'POST' }),
        headers: { authorization: 'Bearer access' },
      });
      expect([answer.status, answer.headers.get('ratelimit')]).toEqual([status, null]);
    }
  }
});
