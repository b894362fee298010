import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { ManualClock, seededRandom } from '@sallyport/core/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { gate } from '../../test/gate.ts';
import { serve } from '../../test/serve.ts';
import { createDrain } from './drain.ts';
import type { PartialHandlers } from './pipeline.ts';

test('held polls answer, requests in flight finish, readiness says so, and then it is over', async () => {
  const held = gate();
  const slow = gate();
  const finish = gate();
  const step = gate();
  const handlers: PartialHandlers = {
    bridge: {
      async poll({ signal }) {
        held.open();
        await once(signal, 'abort');
        return null;
      },
    },
    sessions: {
      async list() {
        slow.open();
        await finish.opened;
        return [];
      },
    },
  };
  const served = await serve({ handlers, drainSteps: [() => step.opened.then(() => undefined)] });
  const headers = { authorization: 'Bearer access' };
  const poll = fetch(`${served.url}/v1/environments/e/work/poll`, { headers });
  const list = fetch(`${served.url}/v1/sessions`, { headers });
  await Promise.all([held.opened, slow.opened]);

  const closing = served.close();
  const answer = await poll;
  expect([answer.status, answer.headers.get('connection'), await answer.text()]).toEqual([
    200,
    'close',
    'null',
  ]);
  const ready = await fetch(`${served.url}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'draining', checks: {} }]);
  finish.open();
  expect(await (await list).json()).toEqual([]);
  step.open();
  await closing;
  await expect(fetch(`${served.url}/healthz`)).rejects.toThrow();
});

test('a follower that comes back at once, and a poll that would be held, are told when to come', async () => {
  const handlers: PartialHandlers = {
    bridge: { poll: () => Promise.resolve(null) },
    sessions: {
      // Nothing ever comes.
      stream: async ({ signal }) =>
        (async function* () {
          if (!signal.aborted) await once(signal, 'abort');
          yield* [];
        })(),
    },
  };
  const hold = gate();
  const served = await serve({ handlers, drainSteps: [() => hold.opened.then(() => undefined)] });
  const get = (path: string) => fetch(served.url + path, { headers: { authorization: 'Bearer access' } });
  const follower = await get('/v1/sessions/s/events/stream');
  const closing = served.close();
  for (const path of ['/v1/sessions/s/events/stream', '/v1/environments/e/work/poll?block_ms=1000']) {
    const refused = await get(path);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await refused.json()).toMatchObject({ error: 'draining' });
  }
  expect((await get('/v1/environments/e/work/poll')).status).toBe(200);
  hold.open();
  await closing;
  expect(await follower.text()).toContain(': draining');
});

test('those who are told when to come are not all told the same', () => {
  const drain = createDrain({ clock: new ManualClock(), random: seededRandom() });
  const times = Array.from({ length: 100 }, () => drain.refusal().retryAfterMs ?? 0);
  for (const second of [1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(times.some((ms) => Math.floor(ms / 1000) === second)).toBe(true);
});

test('a stream that opens while others end is ended at once', async () => {
  const drain = createDrain({ clock: new ManualClock() });
  const run = drain.run([]);
  const ended = gate();
  const stream = { end: () => ended.open(), terminate: () => undefined };
  drain.add(stream);
  await ended.opened;
  drain.remove(stream);
  await run;
});

test('a connection that only waits for a next request does not hold the end', async () => {
  const served = await serve();
  const agent = new Agent({ keepAlive: true });
  const idle = request(`${served.url}/healthz`, { agent })
    .on('error', () => undefined)
    .end();
  const [answer] = (await once(idle, 'response')) as [import('node:http').IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  await served.close();
  agent.destroy();
});

test('steps run in order, then streams end one after the other over the time that their number is worth', async () => {
  const clock = new ManualClock();
  const drain = createDrain({ clock, spreadMs: 100, spreadPerStreamMs: 50 });
  const order: string[] = [];
  const streams = ['a', 'b', 'c', 'd'].map((name) => ({
    end() {
      order.push(`${name} at ${clock.monotonic()}`);
      drain.remove(this);
    },
    terminate: () => undefined,
  }));
  for (const stream of streams) drain.add(stream);
  for (const last of streams.slice(3)) drain.remove(last);
  const run = drain.run([async () => void order.push('first'), async () => void order.push('second')]);
  expect(drain.draining).toBe(true);
  await clock.advance(1000);
  await run;
  expect(order.slice(0, 3)).toEqual(['first', 'second', 'a at 0']);
  expect(order).toHaveLength(5);
  expect(order[3]).toMatch(/^b at 33\.3/);
  expect(order[4]).toMatch(/^c at 66\.6/);
});

test('ends at once what does not end by itself', async () => {
  const drain = createDrain({ clock: new ManualClock() });
  drain.add({
    end: () => undefined,
    terminate() {
      drain.remove(this);
    },
  });
  const run = drain.run([]);
  drain.terminate();
  await run;
});

test('a drain may take longer than the framework gives its hooks', async () => {
  const step = Promise.withResolvers<undefined>();
  const served = await serve({ drainSteps: [() => step.promise] });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = served.close();
  await vi.advanceTimersByTimeAsync(20_000);
  step.resolve(undefined);
  await closed;
});
