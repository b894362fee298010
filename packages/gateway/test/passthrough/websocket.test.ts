import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { answer, rawUpstream, until } from './raw-upstream.ts';
import { through } from './through.ts';

const path = '/v1/code/sessions/s/worker/events/stream';
const voice = '/api/ws/voice/one?lang=en';

interface Echo extends AsyncDisposable {
  readonly url: string;
  readonly server: WebSocketServer;
}

async function echo(onConnection: (socket: WebSocket) => void = () => undefined): Promise<Echo> {
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    perMessageDeflate: { threshold: 0 },
    handleProtocols: (protocols) => [...protocols].at(-1) ?? false,
  });
  server.on('connection', (socket) => {
    socket.on('error', () => undefined).on('message', (data, binary) => socket.send(data, { binary }));
    onConnection(socket);
  });
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    async [Symbol.asyncDispose]() {
      for (const client of server.clients) client.terminate();
      server.close();
      await once(server, 'close');
    },
  };
}

async function open(port: number, at = path, protocols: string[] = []): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${at}`, protocols, {
    perMessageDeflate: { threshold: 0 },
    headers: { 'X-Own': '1' },
  });
  socket.on('error', () => undefined);
  await once(socket, 'open');
  return socket;
}

describe('a WebSocket', () => {
  test.each([path, voice])('goes through with subprotocols, extensions and headers: %s', async (at) => {
    await using upstream = await echo();
    const asked = once(upstream.server, 'connection');
    await using served = await through(upstream.url);
    const socket = await open(served.port, at, ['first', 'second']);
    const [, request] = (await asked) as [WebSocket, import('node:http').IncomingMessage];
    expect(request.url).toBe(at);
    expect(request.headers).toMatchObject({
      'sec-websocket-protocol': 'first,second',
      'x-own': '1',
      via: '1.1 sallyport',
    });
    expect([socket.protocol, socket.extensions]).toEqual(['second', 'permessage-deflate']);
    for (const message of ['', 'hello', 'x'.repeat(3_000_000)]) {
      socket.send(message);
      expect(String((await once(socket, 'message'))[0]) === message).toBe(true);
    }
    socket.close();
    await once(socket, 'close');
  });

  test.each([4090, 1000, 3999])('keeps its close code, whoever closes: %i', async (code) => {
    const heard = Promise.withResolvers<unknown>();
    await using upstream = await echo((socket) => {
      socket.on('message', () => socket.close(code, 'theirs'));
      socket.on('close', (closed, reason) => heard.resolve([closed, String(reason)]));
    });
    await using served = await through(upstream.url);
    const theirs = await open(served.port);
    theirs.send('close');
    const [closed, reason] = (await once(theirs, 'close')) as [number, Buffer];
    expect([closed, String(reason)]).toEqual([code, 'theirs']);
    const ours = await open(served.port);
    const second = new Promise((resolve) => {
      for (const client of upstream.server.clients) client.on('close', (c, r) => resolve([c, String(r)]));
    });
    ours.close(code, 'ours');
    expect(await second).toEqual([code, 'ours']);
  });

  test('that the upstream refuses is refused in its words', async () => {
    await using upstream = await rawUpstream((socket) =>
      socket.write(answer('{"error":"stale_epoch"}', { status: '409 Conflict', headers: 'X-Own: 1\r\n' })),
    );
    await using served = await through(upstream.url);
    const socket = new WebSocket(`ws://127.0.0.1:${served.port}${path}`);
    socket.on('error', () => undefined); // a reset after the answer
    const [, response] = (await once(socket, 'unexpected-response')) as [
      unknown,
      import('node:http').IncomingMessage,
    ];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    expect([response.statusCode, response.headers['x-own'], text]).toEqual([
      409,
      '1',
      '{"error":"stale_epoch"}',
    ]);
  });

  test('to an upstream that is not there is 502', async () => {
    const upstream = await rawUpstream(() => undefined);
    await upstream[Symbol.asyncDispose]();
    await using served = await through(upstream.url);
    const socket = new WebSocket(`ws://127.0.0.1:${served.port}${path}`);
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(response.statusCode).toBe(502);
    socket.on('error', () => undefined).terminate();
  });

  test('elsewhere is no WebSocket', async () => {
    await using upstream = await rawUpstream((socket) => socket.write(answer('plain')));
    await using served = await through(upstream.url);
    const socket = new WebSocket(`ws://127.0.0.1:${served.port}/v1/sessions`);
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(response.statusCode).toBe(200);
    expect(upstream.heads[0]).not.toMatch(/upgrade/i);
    socket.on('error', () => undefined).terminate();
  });

  test('is checked first, where callers are checked here', async () => {
    await using upstream = await echo();
    await using served = await through(upstream.url, {
      'areas.oauth': 'local',
      'areas.devices': 'local',
      'upstream.credential': 'sk-team',
    });
    const socket = new WebSocket(`ws://127.0.0.1:${served.port}${voice}`);
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(response.statusCode).toBe(401);
    socket.on('error', () => undefined).terminate();
  });
});

describe('a connection that is gone', () => {
  const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
  const upgrade = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`;
  const dial = (port: number) => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(upgrade);
    return socket;
  };
  const ways: [string, (socket: Socket) => void][] = [
    ['reset', (socket) => socket.resetAndDestroy()],
    ['closed', (socket) => socket.destroy()],
    ['ended', (socket) => socket.end()],
  ];

  test.each(ways)("on the caller's side is gone upstream: %s", async (_name, leave) => {
    await using upstream = await rawUpstream((socket) => {
      socket.write(switching);
      socket.resume().on('end', () => socket.end());
    });
    await using served = await through(upstream.url);
    const socket = dial(served.port);
    await once(socket, 'data');
    leave(socket);
    await until(() => upstream.sockets.size === 0);
  });

  test.each(ways)("upstream is gone on the caller's side: %s", async (_name, leave) => {
    await using upstream = await rawUpstream((socket) => socket.write(switching, () => leave(socket)));
    await using served = await through(upstream.url);
    const socket = dial(served.port).resume();
    await once(socket, 'close');
    expect((await fetch(`${served.url}/healthz`)).status).toBe(200);
  });

  test.each(ways.slice(0, 2))(
    'before the upstream has answered is gone there, too: %s',
    async (_name, leave) => {
      await using upstream = await rawUpstream(() => undefined);
      await using served = await through(upstream.url);
      const socket = dial(served.port);
      await until(() => upstream.heads.length === 1);
      leave(socket);
      await until(() => upstream.sockets.size === 0);
    },
  );
});

describe('a drain', () => {
  test('closes WebSockets with 1012, for both sides', async () => {
    const upstreamHears: Promise<unknown>[] = [];
    await using upstream = await echo((socket) => void upstreamHears.push(once(socket, 'close')));
    const served = await through(upstream.url);
    const sockets = await Promise.all([open(served.port), open(served.port, voice)]);
    const closed = sockets.map((socket) => once(socket, 'close') as Promise<[number]>);
    await served.close();
    expect((await Promise.all(closed)).map(([code]) => code)).toEqual([1012, 1012]);
    expect((await Promise.all(upstreamHears)).map((heard) => (heard as [number])[0])).toEqual([1012, 1012]);
  });

  test('waits for the end of a frame', async () => {
    const { promise: connected, resolve } = Promise.withResolvers<Socket>();
    const server = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => resolve(socket));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const served = await through(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const caller = connect(served.port, '127.0.0.1').on('error', () => undefined);
    caller.write(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
    );
    const socket = await connected;
    let got = Buffer.alloc(0);
    caller.on('data', (bytes: Buffer) => (got = Buffer.concat([got, bytes])));
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    socket.write(Buffer.from([0x81, 4, 0x61, 0x62]));
    await until(() => got.includes('ab'));
    const closing = served.close();
    await until(() => served.app.drain.draining);
    socket.write(Buffer.from([0x63, 0x64, 0x81, 1, 0x65]));
    await until(() => got.includes(Buffer.from([0x88, 2, 0x03, 0xf4])));
    expect(got.subarray(-10)).toEqual(Buffer.from([0x81, 4, 0x61, 0x62, 0x63, 0x64, 0x88, 2, 0x03, 0xf4]));
    socket.end();
    caller.end();
    await closing;
    server.close();
  });
});
