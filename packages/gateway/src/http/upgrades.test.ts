import { once } from 'node:events';
import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { StreamSocket } from '@sallyport/bridge/server';
import { ServiceError, systemRandom } from '@sallyport/core';
import { ManualClock } from '@sallyport/core/testing';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { gate } from '../../test/gate.ts';
import { echo } from '../../test/heard.ts';
import { serve } from '../../test/serve.ts';
import { createTraffic } from '../metrics/traffic.ts';
import type { PartialHandlers } from './pipeline.ts';

const path = '/v1/code/sessions/s/worker/events/stream';
const good = { authorization: 'Bearer worker', 'vendor-version': '2023-06-01' };

const echoing: PartialHandlers = { worker: { stream: async () => echo } };

/** The HTTP answer to an upgrade that is refused. */
async function refused(port: number, headers: Record<string, string>, at = path) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${at}`, { headers });
  socket.on('error', () => undefined); // a reset after the answer
  const [, answer] = (await once(socket, 'unexpected-response')) as [
    unknown,
    import('node:http').IncomingMessage,
  ];
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: JSON.parse(text) as Record<string, unknown>,
  };
}

test('a storm of upgrades is sent away before anybody is asked who they are', async () => {
  const clock = new ManualClock();
  const random = { ...systemRandom, fraction: () => 0.5 };
  await using served = await serve({ handlers: echoing }, { clock, random });
  for (let round = 0; round < 200; round++) expect((await refused(served.port, {})).status).toBe(401);
  const answer = await refused(served.port, good);
  expect([answer.status, answer.body['error']]).toEqual([503, 'overloaded']);
  expect(answer.headers['retry-after']).toBe('6'); // from 1 to 10, as chance has it
  await clock.advance(1000);
  expect((await refused(served.port, {})).status).toBe(401);
});

describe('an upgrade', () => {
  test('that passes its checks becomes a WebSocket', async () => {
    await using served = await serve({ handlers: echoing });
    const socket = new WebSocket(`ws://127.0.0.1:${served.port}${path}`, { headers: good });
    await once(socket, 'open');
    socket.send('hello');
    const [data] = (await once(socket, 'message')) as [Buffer];
    expect(data.toString()).toBe('hello');
    expect(socket.extensions).toBe('');
    socket.close();
    await once(socket, 'close');
  });

  test('sends a large text in fragments, which come as one, and tells of each that the network has', async () => {
    const text = '\u{1f6a2}'.repeat(250_000);
    const taken = gate();
    let told = 0;
    const tell = () => ++told === 16 && taken.open(); // of 64 KiB each
    const stream = async () => (socket: StreamSocket) => socket.sendText(text, tell);
    await using served = await serve({ handlers: { worker: { stream } } });
    const socket = new WebSocket(`ws://127.0.0.1:${served.port}${path}`, { headers: good });
    const [data] = (await once(socket, 'message')) as [Buffer];
    expect(data.toString() === text).toBe(true);
    await taken.opened;
    socket.close();
    await once(socket, 'close');
  });

  test.each([
    ['no credential', { 'vendor-version': '2023-06-01' }, 401, 'invalid_token'],
    ['a credential of another kind', { ...good, authorization: 'Bearer access' }, 401, 'invalid_token'],
    ['no version', { authorization: 'Bearer worker' }, 400, 'invalid_request'],
    ['another version', { ...good, 'vendor-version': '2020-01-01' }, 400, 'invalid_request'],
  ])('with %s is refused over HTTP, in the one shape', async (_name, headers, status, error) => {
    await using served = await serve({ handlers: echoing });
    const answer = await refused(served.port, headers);
    expect([answer.status, answer.body['error']]).toEqual([status, error]);
    expect(answer.body['request_id']).toBe(answer.headers['request-id']);
    expect(answer.headers.connection).toBe('close');
  });

  test('that its handler refuses is refused before any switch', async () => {
    const stale = new ServiceError('stale_epoch', 'A newer worker has taken over.', {
      details: { worker_epoch: 2 },
    });
    await using served = await serve({ handlers: { worker: { stream: () => Promise.reject(stale) } } });
    const answer = await refused(served.port, good);
    expect(answer).toMatchObject({ status: 409, body: { error: 'stale_epoch', worker_epoch: 2 } });
  });

  test('elsewhere is served as HTTP', async () => {
    await using served = await serve({ handlers: echoing });
    expect((await refused(served.port, good, '/nothing')).status).toBe(404);
    expect((await refused(served.port, good, '/v1/sessions')).status).toBe(401);
  });

  test('that is none is told what to send', async () => {
    await using served = await serve({ handlers: echoing });
    const answer = await fetch(served.url + path, { headers: good });
    expect([answer.status, answer.headers.get('upgrade')]).toEqual([400, 'websocket']);
    const posted = await fetch(served.url + path, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET']);
  });

  test('with a broken handshake is 400', async () => {
    await using served = await serve({ handlers: echoing });
    const socket = connect(served.port, '127.0.0.1').on('error', () => undefined);
    const lines = Object.entries({ ...good, 'sec-websocket-version': '8', 'sec-websocket-key': 'short' });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${head}\r\n`,
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 .*"error":"invalid_request"/s);
    await once(socket, 'close');
  });

  test('whose connection is reset harms nobody', async () => {
    const reached = gate();
    const stuck = Promise.withResolvers<never>();
    const handlers: PartialHandlers = {
      worker: {
        stream: () => {
          reached.open();
          return stuck.promise;
        },
      },
    };
    await using served = await serve({ handlers });
    const socket = connect(served.port, '127.0.0.1').on('error', () => undefined);
    const key = 'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
    const head = Object.entries(good)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${head}${key}\r\n`,
    );
    await reached.opened;
    socket.resetAndDestroy();
    await once(socket, 'close');
    stuck.reject(new ServiceError('not_found', 'gone'));
    expect((await fetch(`${served.url}/healthz`)).status).toBe(200);
  });
});

test('of a frame that is not whole it is known how far it came', async () => {
  let bytesRead = () => NaN;
  const handlers: PartialHandlers = {
    worker: { stream: async () => (socket) => void (bytesRead = () => socket.bytesRead) },
  };
  await using served = await serve({ handlers });
  const socket = new WebSocket(`ws://127.0.0.1:${served.port}${path}`, { headers: good });
  const upgraded = once(socket, 'upgrade') as Promise<[import('node:http').IncomingMessage]>;
  await once(socket, 'open');
  const before = bytesRead();
  const [{ socket: line }] = await upgraded;
  line.write(Buffer.from([0x81, 0xfe, 1000 >> 8, 1000 & 0xff]));
  await expect.poll(() => bytesRead() - before).toBe(4);
  socket.terminate();
});

/** The meter of the row that `path` is of. */
function countedBy(traffic: ReturnType<typeof createTraffic>) {
  return traffic.meter({ area: 'worker', row: 'worker.stream', upstream: '' });
}

test('an open socket is counted until it is gone, and lets its request go', async () => {
  const traffic = createTraffic();
  let request: WeakRef<object> | undefined;
  const handlers: PartialHandlers = {
    worker: {
      stream: async (call) => {
        request = new WeakRef(call.request.raw);
        return () => undefined;
      },
    },
  };
  await using served = await serve({ handlers }, { traffic });
  const socket = new WebSocket(`ws://127.0.0.1:${served.port}${path}`, { headers: good });
  await once(socket, 'open');
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await expect
    .poll(() => {
      collect();
      return request?.deref();
    })
    .toBeUndefined();
  const meter = countedBy(traffic);
  expect(meter.inFlight).toBe(1);
  socket.terminate();
  await expect.poll(() => [meter.inFlight, meter.requests[0]]).toEqual([0, 1]);
});

test('one whose caller leaves in the turn of the switch is counted once', async () => {
  const traffic = createTraffic();
  const handlers: PartialHandlers = {
    worker: {
      stream: async (call) => {
        call.request.raw.socket.destroy();
        return () => undefined;
      },
    },
  };
  await using served = await serve({ handlers }, { traffic });
  const socket = new WebSocket(`ws://127.0.0.1:${served.port}${path}`, { headers: good });
  await once(socket, 'error');
  const meter = countedBy(traffic);
  await expect.poll(() => meter.inFlight).toBe(0);
  expect(meter.requests.reduce((sum, count) => sum + count)).toBe(1);
});

test('a frame over 1 MiB closes the socket with 1009', async () => {
  await using served = await serve({ handlers: echoing });
  const socket = new WebSocket(`ws://127.0.0.1:${served.port}${path}`, { headers: good });
  await once(socket, 'open');
  socket.send('x'.repeat(1024 * 1024 + 1));
  const [code] = (await once(socket, 'close')) as [number];
  expect(code).toBe(1009);
});

test('a drain closes sockets with 1012', async () => {
  const served = await serve({ handlers: echoing });
  const sockets = Array.from(
    { length: 5 },
    () => new WebSocket(`ws://127.0.0.1:${served.port}${path}`, { headers: good }),
  );
  await Promise.all(sockets.map((socket) => once(socket, 'open')));
  const closed = sockets.map((socket) => once(socket, 'close') as Promise<[number]>);
  await served.close();
  expect((await Promise.all(closed)).map(([code]) => code)).toEqual([1012, 1012, 1012, 1012, 1012]);
});

test('a socket that opens after all others were sent away is closed with 1012 at once', async () => {
  const reached = gate();
  const go = gate();
  const handlers: PartialHandlers = {
    worker: {
      async stream() {
        reached.open();
        await go.opened;
        return () => undefined;
      },
    },
  };
  await using served = await serve({ handlers });
  const socket = new WebSocket(`ws://127.0.0.1:${served.port}${path}`, { headers: good });
  await reached.opened;
  await served.app.close();
  go.open();
  const [code] = (await once(socket, 'close')) as [number];
  expect(code).toBe(1012);
});
