// fastify-websocket#45, dormice#53, fastify#3852: a service that is told to end waits for what is held, or drops it.
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { createClient, undiciTransport } from '@sallyport/core/client';
import { expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { Installation } from '../e2e/installation.ts';
import { openWire } from '../e2e/wire.ts';

const held = 100;
vi.setConfig({ testTimeout: 180_000 });

test('told to end with 100 polls, 100 WebSockets and 100 event streams held, the gateway ends them all, and itself', async () => {
  await using installation = new Installation();
  const rateLimits = JSON.stringify({ default: 100_000 });
  const gateway = await installation.gateway([], { SALLYPORT_RATE_LIMITS: rateLimits });
  await installation.login();
  const wire = await openWire(installation);
  const transport = undiciTransport({ connections: 3 * held });
  const { bridge } = createClient({ ...wire.options, transport });

  const resting = await wire.register('polls');
  const polls = Array.from({ length: held }, (_, index) =>
    bridge.poll({
      headers: { 'vendor-worker-id': `w${index}` },
      params: { env_id: resting },
      query: { block_ms: 55_000 },
    }),
  );
  const busy = await wire.register('sockets');
  const address = installation.baseUrl.replace('http', 'ws');
  const closed: Promise<unknown[]>[] = [];
  const ended: Promise<string>[] = [];
  for (let at = 0; at < held; at += 1) {
    const { id, token } = await wire.worker(busy);
    const socket = new WebSocket(`${address}/v1/code/sessions/${id}/worker/events/stream`, {
      headers: { authorization: `Bearer ${token}`, 'vendor-version': '2023-06-01' },
    });
    closed.push(once(socket, 'close'));
    await once(socket, 'open');
    const stream = await fetch(`${installation.baseUrl}/v1/sessions/${id}/events/stream`, {
      headers: { authorization: wire.bearer.replace('Authorization: ', '') },
    });
    ended.push(stream.text());
  }
  const waiting = await wire.register('nobody polls');
  const { work_id: workId } = await wire.session(waiting);
  await setTimeout(1_000); // so long a poll that is not held would not take

  const signalledAt = performance.now();
  gateway.signal('SIGTERM');
  expect(await Promise.all(polls)).toEqual(Array.from({ length: held }, () => null));
  expect(await bridge.poll({ params: { env_id: waiting } })).toBeNull();
  for (const [code] of await Promise.all(closed)) expect(code).toBe(1012);
  for (const text of await Promise.all(ended)) expect(text).toMatch(/: draining\n\n$/);
  expect(await gateway.end()).toBe(0);
  expect(performance.now() - signalledAt).toBeLessThan(25_000);

  // What nobody was given is there for whoever asks next.
  await installation.gateway();
  const work = await bridge.poll({ params: { env_id: waiting } });
  expect(work).toMatchObject({ id: workId });
  await transport.close();
  await wire.close();
});
