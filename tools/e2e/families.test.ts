import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { WebSocketServer } from 'ws';
import { families } from '@sallyport/core/contract';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { binDir, Installation } from './installation.ts';

// What only an upstream serves, from the command line, through a gateway that keeps accounts and shows a key of its own.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const installation = new Installation();
const seen: { readonly method: string; readonly url: string; readonly key: string; readonly body: string }[] =
  [];

async function answer(request: IncomingMessage): Promise<{ type: string; text: string }> {
  const { method = '', url = '', headers } = request;
  const body = Buffer.concat((await request.toArray()) as Buffer[]).toString();
  seen.push({ method, url, key: String(headers['x-api-key']), body });
  if (!body.includes('"stream":true')) return { type: 'application/json', text: '{"data":[]}' };
  return { type: 'text/event-stream', text: 'event: one\ndata: {"n":1}\n\nevent: two\ndata: {"n":2}\n\n' };
}

const upstream = createServer((request, response) => {
  void answer(request).then(
    ({ type, text }) => response.writeHead(200, { 'content-type': type }).end(text),
    () => undefined, // the command was ended amid it
  );
});

const voices = new WebSocketServer({ noServer: true });
const goodbyes: number[] = [];
upstream.on('upgrade', (request, socket, head) => {
  const { method = '', url = '', headers } = request;
  seen.push({ method, url, key: String(headers['x-api-key']), body: '' });
  voices.handleUpgrade(request, socket, head, (voice) => {
    voice.on('message', (data, binary) => voice.send(data, { binary }));
    voice.on('close', (code) => goodbyes.push(code));
  });
});

beforeAll(async () => {
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const gateway = installation.run(join(binDir, 'sallyport-gateway'), ['start'], {
    env: {
      SALLYPORT_UPSTREAM: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
      SALLYPORT_UPSTREAM_CREDENTIAL: 'sk-team',
      SALLYPORT_UPSTREAM_CREDENTIAL_HEADER: 'x-api-key',
      SALLYPORT_AREAS_OAUTH: 'local',
    },
  });
  const [, url = ''] = await gateway.shows(/^listening on (http:\S+)$/m);
  installation.baseUrl = url;
  await installation.login();
});
afterAll(async () => {
  await installation[Symbol.asyncDispose]();
  upstream.close();
});

test('each is reached', async () => {
  const paths = families
    .filter((family) => !('transport' in family))
    .map(({ prefix }) => `${prefix}/one?limit=1`);
  const calls = paths.map(async (path) => {
    const api = installation.sallyport(['api', 'GET', path]);
    expect(await api.end(), api.screen).toBe(0);
    expect(JSON.parse(api.stdout)).toEqual({ data: [] });
  });
  await Promise.all(calls);
  const asked = paths.map((url) => ({ method: 'GET', url, key: 'sk-team', body: '' }));
  expect(seen.splice(0)).toEqual(expect.arrayContaining(asked));
});

test('a message is streamed', async () => {
  const body = '{"model":"m","stream":true}';
  const api = installation.sallyport(['api', '/v1/messages', '--body', body, '--json']);
  expect(await api.end(), api.screen).toBe(0);
  expect(seen.splice(0)).toEqual([{ method: 'POST', url: '/v1/messages', key: 'sk-team', body }]);
  expect(
    api.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toMatchObject([{ event: 'one' }, { event: 'two' }]);
});

test('a voice is talked to line by line, until stdin ends or Ctrl-C', async () => {
  const asked = { method: 'GET', url: '/api/ws/voice/one', key: 'sk-team', body: '' };
  const piped = installation.sallyport(['api', 'WS', asked.url], { input: 'one\ntwo\n' });
  expect(await piped.end(), piped.screen).toBe(0);
  expect(piped.stdout).toBe('one\ntwo\n');
  const typed = installation.sallyport(['api', asked.url], { isTyped: true });
  typed.type('three\n');
  await typed.shows(/^three$/m);
  expect(await typed.stop('SIGINT')).toBe(130);
  expect(typed.screen).toBe('three\n');
  expect(seen.splice(0)).toEqual([asked, asked]);
  expect(goodbyes).toEqual([1000, 1000]);
});
