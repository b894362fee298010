import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { neutralDialect, systemClock } from '@sallyport/core';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { echo } from '../../test/heard.ts';
import { testAuthenticator } from '../../test/serve.ts';
import { createApp, type App } from '../app.ts';
import { listen, type Listener } from './listener.ts';
import { maxPipelined } from './pipelining.ts';
import { upgradableIn } from './upgradable.ts';

const path = '/v1/code/sessions/s/worker/events/stream';
const good = { authorization: 'Bearer worker', 'vendor-version': '2023-06-01' };
const handshake = [
  `GET ${path} HTTP/1.1`,
  'Host: x',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ...Object.entries(good).map(([name, value]) => `${name}: ${value}`),
  '\r\n',
].join('\r\n');

let app: App | undefined;
let listener: Listener;
afterEach(async () => {
  await app?.close();
  app = undefined;
  await listener.close();
});

/** A gateway that is starting: its port is bound, and `began` counts what has arrived whole. */
async function starting(arrivals: number): Promise<{ arrived: Promise<void> }> {
  listener = await listen({ host: '127.0.0.1', port: 0, upgradable: upgradableIn(neutralDialect) });
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const count = () => --arrivals === 0 && resolve(undefined);
  listener.server.on('upgrade', count).on('request', count);
  return { arrived: promise };
}

async function open(): Promise<void> {
  app = createApp(
    {
      authenticator: testAuthenticator,
      handlers: {
        worker: {
          stream: async () => echo,
        },
      },
    },
    {
      publicUrl: `http://127.0.0.1:${listener.port}`,
      dialect: neutralDialect,
      rateLimits: { default: 600 },
      trustProxy: false,
      corsOrigins: [],
      clock: systemClock,
    },
  );
  await app.attach(listener);
}

async function sent(bytes: string | Buffer): Promise<Socket> {
  const socket = connect(listener.port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

async function readUntil(socket: Socket, end: string): Promise<string> {
  let seen = '';
  while (!seen.includes(end)) seen += String((await once(socket, 'data'))[0]);
  return seen;
}

/** What the kernel has of the gateway's side of a connection: its timer is 02 where it asks whether the other side is there. */
function kernelTimer(socket: Socket): string | undefined {
  const sides = [listener.port, socket.localPort ?? 0].map(
    (port) => `:${port.toString(16).padStart(4, '0')}`,
  );
  const fields = readFileSync('/proc/net/tcp', 'utf8')
    .toLowerCase()
    .split('\n')
    .map((line) => line.trim().split(/ +/));
  return fields.find(
    ([, local, remote]) => local?.endsWith(sides[0] ?? '') && remote?.endsWith(sides[1] ?? ''),
  )?.[5];
}

test.skipIf(process.platform !== 'linux')('a caller that is gone without a word is found out', async () => {
  await starting(1);
  const accepted = once(listener.server, 'connection');
  const socket = await sent('');
  await accepted;
  expect(kernelTimer(socket)).toMatch(/^02:/);
  socket.destroy();
});

test('a connection that the system does not let it accept ends nothing', async () => {
  await starting(0);
  await open();
  listener.server.emit('error', new Error('accept EMFILE')); // as Node does where libuv cannot help itself
  expect((await fetch(`http://127.0.0.1:${listener.port}/healthz`)).status).toBe(200);
});

describe('while the gateway starts', () => {
  test('an upgrade is held like any request, and then made', async () => {
    const { arrived } = await starting(1);
    const socket = new WebSocket(`ws://127.0.0.1:${listener.port}${path}`, { headers: good });
    const opened = once(socket, 'open');
    await arrived;
    await open();
    await opened;
    socket.send('hello');
    expect(String((await once(socket, 'message'))[0])).toBe('hello');
    socket.terminate();
  });

  test('an upgrade is refused by the app, as at any other time', async () => {
    const { arrived } = await starting(1);
    const socket = new WebSocket(`ws://127.0.0.1:${listener.port}${path}`);
    const refused = once(socket, 'unexpected-response') as Promise<[unknown, { statusCode: number }]>;
    await arrived;
    await open();
    expect((await refused)[1].statusCode).toBe(401);
    socket.on('error', () => undefined).terminate();
  });

  test('what follows a handshake at once is not lost', async () => {
    const { arrived } = await starting(1);
    // A masked text frame (RFC 6455 5.2) whose mask is zeros.
    const frame = Buffer.from([0x81, 0x85, 0, 0, 0, 0, ...Buffer.from('early')]);
    const socket = await sent(Buffer.concat([Buffer.from(handshake), frame]));
    await arrived;
    await open();
    expect(await readUntil(socket, 'early')).toMatch(/^HTTP\/1\.1 101 /);
    socket.destroy();
  });

  test.each(['resetAndDestroy', 'end'] as const)(
    'a client that hangs up (%s) harms nobody',
    async (hangUp) => {
      const { arrived } = await starting(1);
      const socket = await sent(handshake);
      await arrived;
      socket[hangUp]();
      socket.resume();
      const closed = once(socket, 'close');
      await open();
      expect((await fetch(`http://127.0.0.1:${listener.port}/healthz`)).status).toBe(200);
      await closed;
    },
  );

  test('requests of one connection are answered in order', async () => {
    const { arrived } = await starting(2);
    const socket = await sent(
      'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /nothing HTTP/1.1\r\nHost: x\r\n\r\n',
    );
    await arrived;
    await open();
    expect(await readUntil(socket, 'not_found')).toMatch(/^HTTP\/1\.1 200 .*HTTP\/1\.1 404 /s);
    socket.destroy();
  });

  test('a start that fails cuts off what it held', async () => {
    const { arrived } = await starting(2);
    const sockets = await Promise.all([sent(handshake), sent('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')]);
    const closed = sockets.map((socket) => once(socket, 'close'));
    await arrived;
    await listener.close();
    await Promise.all(closed);
  });
});

describe('requests that are sent before the answers to earlier ones', () => {
  const request = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

  async function answersTo(requests: string): Promise<readonly string[]> {
    const socket = (await sent(requests)).setEncoding('latin1');
    let text = '';
    socket.on('data', (chunk: string) => (text += chunk));
    await once(socket, 'close');
    return text.split('HTTP/1.1 ').slice(1);
  }

  const last = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

  test('are answered in their order, as many as may wait', async () => {
    await starting(1);
    await open();
    const answers = await answersTo(request.repeat(maxPipelined - 1) + last);
    expect(answers).toHaveLength(maxPipelined);
    expect(answers.filter((answer) => /^connection: close/im.test(answer))).toEqual([answers.at(-1)]);
  });

  test('are served up to a bound, and the connection ends with the last one', async () => {
    await starting(1);
    let served = 0;
    listener.server.prependListener('request', (_request, response) => {
      response.once('finish', () => served++);
    });
    await open();
    const answers = await answersTo(request.repeat(1000));
    expect(answers).toHaveLength(maxPipelined + 1);
    expect(answers.every((answer) => answer.startsWith('200 '))).toBe(true);
    expect(answers.filter((answer) => /^connection: close/im.test(answer))).toEqual([answers.at(-1)]);
    expect(served).toBe(maxPipelined + 1);
  });
});
