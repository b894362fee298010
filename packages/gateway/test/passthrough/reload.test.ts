import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { AddressInfo } from 'node:net';
import { responseTo } from '../response-to.ts';
import { configurableGateway } from './configurable-gateway.ts';
import { answer, rawUpstream, until } from './raw-upstream.ts';

let directory: string;
beforeAll(() => void (directory = mkdtempSync(join(tmpdir(), 'sallyport-reload-'))));
afterAll(() => rmSync(directory, { recursive: true }));

const body = async (url: string) => (await fetch(url)).text();

test('requests go to the new upstream from then on, and what is open goes on where it began', async () => {
  const stream =
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n3\r\n: 1\r\n';
  await using first = await rawUpstream((socket, head) =>
    socket.write(head.includes('stream') ? stream : answer('first')),
  );
  await using second = await rawUpstream((socket) => socket.write(answer('second')));
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data)));
  await once(sockets, 'listening');
  const voice = `http://127.0.0.1:${(sockets.address() as AddressInfo).port}`;
  await using served = await configurableGateway({ upstream: first.url, upstreams: { voice } });
  const { hostname, port } = new URL(served.url);
  // One connection of a caller for all: it is not dropped.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = () =>
    new Promise<[string, boolean]>((resolve, reject) => {
      const call = httpRequest({ hostname, port, path: '/v1/models', agent }, (response) => {
        let text = '';
        response
          .on('data', (chunk) => (text += String(chunk)))
          .on('end', () => resolve([text, call.reusedSocket]));
      });
      call.on('error', reject).end();
    });
  expect(await ask()).toEqual(['first', false]);
  const events = await responseTo(`${served.url}/v1/messages?stream`);
  let text = '';
  events.on('data', (chunk) => (text += String(chunk)));
  const socket = new WebSocket(`ws://${hostname}:${port}/api/ws/voice/one`);
  await once(socket, 'open');
  await until(() => text === ': 1');

  await served.reload({ upstream: second.url });
  expect(served.told).toEqual([['info', { changed: ['upstream.url', 'upstreams'] }]]);
  expect(await ask()).toEqual(['second', true]);
  for (const one of first.sockets) if (!one.destroyed) one.write('3\r\n: 2\r\n0\r\n\r\n');
  await once(events, 'end');
  expect(text).toBe(': 1: 2');
  socket.send('still here');
  expect(String((await once(socket, 'message'))[0])).toBe('still here');
  socket.close();
  await once(socket, 'close');
  // The former upstream's connections go when nobody needs them any more.
  await until(() => first.sockets.size === 0);
  agent.destroy();
  sockets.close();
});

test('areas, credentials and limits change with it; what needs a restart is said', async () => {
  await using upstream = await rawUpstream((socket) => socket.write(answer('up')));
  await using served = await configurableGateway({});
  expect((await fetch(`${served.url}/v1/models`)).status).toBe(401);
  await served.reload({ upstream: upstream.url, drainSeconds: 3, oauth: { accessTokenSeconds: 60 } });
  expect(await body(`${served.url}/v1/models`)).toBe('up');
  expect(served.told.at(-1)).toEqual(['warn', { ignored: ['oauth.accessTokenSeconds', 'drainSeconds'] }]);
  await served.reload({
    upstream: { url: upstream.url, credential: 'sk-team' },
    areas: { oauth: 'local', devices: 'local' },
  });
  expect((await fetch(`${served.url}/v1/models`)).status).toBe(401);
  expect(JSON.stringify(served.told)).not.toContain('sk-team');
});

test('a configuration that is no good changes nothing, and is told', async () => {
  await using upstream = await rawUpstream((socket) => socket.write(answer('up')));
  await using served = await configurableGateway({ upstream: upstream.url });
  const broken = [
    '{"upstream":',
    '{"upstraem": "http://127.0.0.1:1"}',
    '{"areas": {"models": "upstream"}}',
    '{"upstream": {"url": "http://127.0.0.1:1", "ca": "/nowhere.pem"}}',
  ];
  for (const content of broken) {
    await served.reload(content);
    expect(served.told.splice(0)).toEqual([['error', { reason: expect.any(String) as string }]]);
    expect(await body(`${served.url}/v1/models`)).toBe('up');
  }
  const reloads = (result: string, count: number) =>
    `sallyport_config_reloads_total{result="${result}"} ${count}\n`;
  expect(await body(`${served.url}/metrics`)).toContain(reloads('ok', 0) + reloads('failed', 4));
  // Counters go on over a reload.
  await served.reload({ upstream: upstream.url });
  const metrics = await body(`${served.url}/metrics`);
  expect(metrics).toContain(reloads('ok', 1));
  expect(metrics).toMatch(
    /sallyport_requests_total\{area="models",row="models",upstream="[^"]+",status="2xx"\} 4/,
  );
});

test('SIGHUP has a gateway do so', async () => {
  await using upstream = await rawUpstream((socket) => socket.write(answer('up')));
  const file = join(directory, 'signal.json');
  writeFileSync(file, '{}');
  const main = join(import.meta.dirname, '../../src/main.ts');
  const child = spawn(
    process.execPath,
    [
      '--conditions=@sallyport/source',
      main,
      '--port',
      '0',
      '--data-dir',
      join(directory, 'signal'),
      '--config',
      file,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'], HOME: directory } },
  );
  const closed = once(child, 'close');
  try {
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    writeFileSync(file, JSON.stringify({ upstream: upstream.url }));
    const log = createInterface(child.stderr);
    const reloaded = new Promise<void>((resolve) =>
      log.on('line', (text) => text.includes('the configuration was reloaded') && resolve()),
    );
    child.kill('SIGHUP');
    await reloaded;
    expect(await body(`${line.replace('listening on ', '')}/v1/models`)).toBe('up');
  } finally {
    child.kill('SIGTERM');
    expect(await closed).toEqual([0, null]);
  }
});
