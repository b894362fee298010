import { once } from 'node:events';
import type { GrantListener, Grants } from '@sallyport/core';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { heard } from '../../test/heard.ts';
import { serve } from '../../test/serve.ts';
import type { PartialHandlers } from './pipeline.ts';

const path = '/v1/code/sessions/s/worker/events/stream';
const headers = { authorization: 'Bearer worker', 'vendor-version': '2023-06-01' };

/** Grants that the test revokes. */
function someGrants() {
  const watches = new Map<string, GrantListener>();
  const grants: Grants = {
    changes: 0,
    watch: (grantId, listener) => void watches.set(grantId, listener),
    unwatch: (grantId) => void watches.delete(grantId),
  };
  return { grants, watches };
}

test('a WebSocket whose grant is revoked is closed with 4403, and nothing is heard of it any more', async () => {
  const { grants, watches } = someGrants();
  const texts: string[] = [];
  const handlers: PartialHandlers = {
    worker: {
      stream: async () => (socket) => {
        heard(socket, (text) => {
          texts.push(text);
          socket.sendText('heard', () => undefined);
        });
      },
    },
  };
  await using served = await serve({ handlers, grants });
  const socket = new WebSocket(`ws://127.0.0.1:${served.port}${path}`, { headers });
  await once(socket, 'open');
  socket.send('before');
  await once(socket, 'message');
  watches.get('grant')?.revoked();
  socket.send('after');
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
  expect([code, reason.toString(), texts]).toEqual([4403, 'revoked', ['before']]);
  await expect.poll(() => watches.size).toBe(0);
});

test('a WebSocket that ends by itself is watched no longer', async () => {
  const { grants, watches } = someGrants();
  const handlers: PartialHandlers = { worker: { stream: async () => () => undefined } };
  await using served = await serve({ handlers, grants });
  const socket = new WebSocket(`ws://127.0.0.1:${served.port}${path}`, { headers });
  await once(socket, 'open');
  await expect.poll(() => watches.size).toBe(1);
  socket.close();
  await once(socket, 'close');
  await expect.poll(() => watches.size).toBe(0);
});

test('server-sent events whose grant is revoked end, and say why', async () => {
  const { grants, watches } = someGrants();
  const handlers: PartialHandlers = {
    sessions: {
      stream: async ({ signal }) =>
        (async function* () {
          yield { data: 1 };
          await once(signal, 'abort');
        })(),
    },
  };
  await using served = await serve({ handlers, grants });
  const answer = await fetch(`${served.url}/v1/sessions/s/events/stream?beta=true`, {
    headers: { authorization: 'Bearer access', 'vendor-beta': 'managed-agents-2026-04-01' },
  });
  expect(answer.status).toBe(200);
  await expect.poll(() => watches.size).toBe(1);
  watches.get('grant')?.revoked();
  expect(await answer.text()).toMatch(/data: 1\n\n: revoked\n\n$/);
  await expect.poll(() => watches.size).toBe(0);
});
