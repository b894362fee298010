import { connect, createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { silentLog } from '@sallyport/core';
import { freePort, ManualClock } from '@sallyport/core/testing';
import { describe, expect, test } from 'vitest';
import { createRetryBudget } from '../../src/passthrough/retry-budget.ts';
import { answer, rawUpstream, standsStill, until } from './raw-upstream.ts';
import { through } from './through.ts';

const silent = () => undefined;

/** An address where nobody listens. */
const nowhere = async () => `http://127.0.0.1:${await freePort()}`;

async function refusalOf(response: Response) {
  const body = (await response.json()) as Record<string, unknown>;
  expect(body['request_id']).toBe(response.headers.get('request-id'));
  return [response.status, body['error']];
}

describe('an upstream', () => {
  test('that nobody can connect to is 502, in the one shape', async () => {
    await using served = await through(await nowhere());
    const response = await fetch(`${served.url}/v1/models`);
    expect(await refusalOf(response)).toEqual([502, 'upstream_unreachable']);
  });

  test('that answers no HTTP is 502', async () => {
    await using upstream = await rawUpstream((socket) => socket.write('HELLO\r\n\r\n'));
    await using served = await through(upstream.url);
    const response = await fetch(`${served.url}/v1/messages`, { method: 'POST', body: '{}' });
    expect(await refusalOf(response)).toEqual([502, 'upstream_unreachable']);
  });

  test.each([
    ['both framings', 'content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'],
    ['two lengths', 'content-length: 2\r\ncontent-length: 5\r\n\r\nhello'],
    ['a broken chunk', 'transfer-encoding: chunked\r\n\r\nxyz\r\nhello'],
    ['a switch that nobody asked for', 'connection: upgrade\r\nupgrade: h2c\r\n\r\n'],
  ])('that answers with %s is not passed on as if it were well', async (name, rest) => {
    await using upstream = await rawUpstream((socket) => {
      socket.write(`HTTP/1.1 ${name.includes('switch') ? '101 Switching' : '200 OK'}\r\n${rest}`);
    });
    await using served = await through(upstream.url);
    const text = await fetch(`${served.url}/v1/messages`, { method: 'POST' })
      .then((response) => response.text())
      .catch(() => 'cut off');
    expect(text).toMatch(/upstream_unreachable|cut off/);
  });

  test('whose reason cannot be sent is passed on without it', async () => {
    await using upstream = await rawUpstream((socket) =>
      socket.write(answer('ok', { status: '200 Gr\xfc\xdfe' }), 'latin1'),
    );
    await using served = await through(upstream.url);
    expect(await (await fetch(`${served.url}/v1/models`)).text()).toBe('ok');
  });

  test("that does not answer in its row's time is 504, and is let go", async () => {
    const clock = new ManualClock();
    await using upstream = await rawUpstream(silent);
    await using served = await through(upstream.url, {}, { clock });
    const waiting = fetch(`${served.url}/api/oauth/profile`);
    await until(() => upstream.heads.length === 1);
    await clock.advance(2_999);
    expect(upstream.sockets.size).toBe(1);
    await clock.advance(1);
    expect(await refusalOf(await waiting)).toEqual([504, 'upstream_timeout']);
    await until(() => upstream.sockets.size === 0);
  });

  test('that is asked to hold its answer back has that time on top', async () => {
    const clock = new ManualClock();
    await using upstream = await rawUpstream(silent);
    await using served = await through(upstream.url, {}, { clock });
    const waiting = fetch(`${served.url}/v1/environments/e/work/poll?block_ms=20000`);
    await until(() => upstream.heads.length === 1);
    await clock.advance(49_999);
    expect(upstream.sockets.size).toBe(1);
    await clock.advance(1);
    expect(await refusalOf(await waiting)).toEqual([504, 'upstream_timeout']);
  });
});

test('where all connections are taken, who waits in vain is told so, and the upstream is in no trouble', async () => {
  const clock = new ManualClock();
  await using upstream = await rawUpstream((socket, head) => {
    if (head.includes('stream')) socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
    else socket.write(answer('ok'));
  });
  await using served = await through(upstream.url, { 'upstream.connections': 1 }, { clock });
  const stream = new AbortController();
  using _stream = { [Symbol.dispose]: () => stream.abort() };
  const streamed = await fetch(`${served.url}/v1/messages?stream`, { signal: stream.signal });
  const waiting = Array.from({ length: 6 }, () => fetch(`${served.url}/api/oauth/profile`));
  await expect.poll(async () => inFlight(served.url, 'oauth.profile')).toBe(6);
  await clock.advance(10_000);
  for (const response of await Promise.all(waiting)) {
    expect(await refusalOf(response)).toEqual([503, 'overloaded']);
    expect(response.headers.get('retry-after')).toBe('1');
  }
  const timers = clock.timers;
  const asked = fetch(`${served.url}/readyz`);
  await until(() => clock.timers > timers);
  await clock.advance(1_500);
  const { checks } = (await (await asked).json()) as { checks: Record<string, string> };
  expect(checks[`upstream ${upstream.url}`]).toBe('all connections are taken');
  expect(streamed.status).toBe(200); // a response that nobody holds any more is collected, and its stream ends
  stream.abort();
  expect(await (await fetch(`${served.url}/v1/models`)).text()).toBe('ok');
  expect((await fetch(`${served.url}/readyz`)).status).toBe(200);
});

async function inFlight(url: string, row: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(
    new RegExp(`^sallyport_requests_in_flight\\{[^}]*row="${row}"[^}]*\\} (\\d+)$`, 'm').exec(metrics)?.[1],
  );
}

describe('a request is sent again', () => {
  const cutting = (times: number) => {
    let left = times;
    return rawUpstream((socket) => {
      if (left-- > 0) socket.resetAndDestroy();
      else socket.write(answer('ok'));
    });
  };

  test('twice, where it is safe and has no answer', async () => {
    await using upstream = await cutting(2);
    await using served = await through(upstream.url);
    expect(await (await fetch(`${served.url}/v1/models`)).text()).toBe('ok');
    expect(upstream.heads).toHaveLength(3);
  });

  test('no more than that', async () => {
    await using upstream = await cutting(3);
    await using served = await through(upstream.url);
    expect((await fetch(`${served.url}/v1/models`)).status).toBe(502);
    expect(upstream.heads).toHaveLength(3);
  });

  test.each([
    ['it may have done something', '/v1/messages', { method: 'POST', body: '{}' }],
    ['it deletes', '/v1/files/f', { method: 'DELETE' }],
    ['it is a GET that hands something out', '/v1/environments/e/work/poll', {}],
  ])('not where %s', async (_name, path, init) => {
    await using upstream = await cutting(1);
    await using served = await through(upstream.url);
    expect((await fetch(served.url + path, init)).status).toBe(502);
    expect(upstream.heads).toHaveLength(1);
  });
});

test('retries are a fifth of what is in flight, and three in any case', () => {
  const budget = createRetryBudget();
  const taken = () => Array.from({ length: 50 }, () => budget.take()).filter(Boolean).length;
  budget.began();
  expect(taken()).toBe(3);
  for (let round = 0; round < 50; round++) budget.began();
  expect(taken()).toBe(8);
  for (let round = 0; round < 11; round++) budget.ended(true);
  expect(taken()).toBe(8);
});

describe('the breaker', () => {
  const post = (url: string) => fetch(`${url}/v1/messages`, { method: 'POST', body: '{}' });

  test('opens after five failures in a row, says so, and lets one try go after five seconds', async () => {
    const clock = new ManualClock();
    let script: 'cut' | 'hold' | 'answer' = 'cut';
    await using upstream = await rawUpstream((socket) => {
      if (script === 'cut') socket.resetAndDestroy();
      else if (script === 'answer') socket.write(answer('ok'));
    });
    const told: object[] = [];
    const tell = (level: string) => (fields: object) => void told.push({ level, ...fields });
    const log = { ...silentLog, info: tell('info'), warn: tell('warn') };
    await using served = await through(upstream.url, {}, { clock }, { log });
    const ready = async () => {
      const response = await fetch(`${served.url}/readyz`);
      const { checks } = (await response.json()) as { checks: Record<string, string> };
      return [response.status, checks[`upstream ${upstream.url}`]];
    };
    for (let round = 0; round < 5; round++) expect((await post(served.url)).status).toBe(502);
    expect(upstream.heads).toHaveLength(5);
    const refused = await post(served.url);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([502, '5']);
    expect(upstream.heads).toHaveLength(5);
    expect(await ready()).toEqual([503, 'breaker open']);

    script = 'hold';
    await clock.advance(5_000);
    const trying = post(served.url);
    await until(() => upstream.heads.length === 6);
    expect((await post(served.url)).status).toBe(502);
    expect(await ready()).toEqual([503, 'breaker half-open']);
    expect(upstream.heads).toHaveLength(6);
    for (const socket of upstream.sockets) socket.write(answer('ok'));
    expect((await trying).status).toBe(200);
    script = 'answer';
    expect((await post(served.url)).status).toBe(200);
    expect(await ready()).toEqual([200, 'ok']);

    const change = (level: string, from: string, to: string) => ({ level, upstream: upstream.url, from, to });
    expect(told).toEqual([
      { ...change('warn', 'closed', 'open'), err: expect.any(Error) as Error },
      change('info', 'open', 'half-open'),
      change('info', 'half-open', 'closed'),
    ]);
    const metrics = await (await fetch(`${served.url}/metrics`)).text();
    for (const to of ['closed', 'half-open', 'open'])
      expect(metrics).toContain(
        `sallyport_upstream_breaker_changes_total{upstream="${upstream.url}",to="${to}"} 1\n`,
      );
  });

  test('counts a request once, however often it was sent, and has its one try sent once', async () => {
    const clock = new ManualClock();
    await using upstream = await rawUpstream((socket) => socket.resetAndDestroy());
    await using served = await through(upstream.url, {}, { clock });
    const get = () => fetch(`${served.url}/v1/models`);
    const state = async () =>
      /breaker_state\{.*\} (\d)/.exec(await (await fetch(`${served.url}/metrics`)).text())?.[1];
    for (let round = 1; round <= 4; round++) expect((await get()).status).toBe(502);
    expect([upstream.heads.length, await state()]).toEqual([12, '0']);
    expect((await get()).status).toBe(502);
    expect([upstream.heads.length, await state()]).toEqual([15, '2']);
    await clock.advance(5_000);
    expect((await get()).status).toBe(502);
    expect([upstream.heads.length, await state()]).toEqual([16, '2']);
  });

  test('stays closed while an upstream restarts under two requests', async () => {
    const port = await freePort();
    await using served = await through(`http://127.0.0.1:${port}`);
    const get = () => fetch(`${served.url}/v1/models`);
    for (const response of await Promise.all([get(), get()])) expect(response.status).toBe(502);
    const again = createServer((socket) => {
      socket.on('error', silent).once('data', () => socket.end(answer('ok')));
    }).listen(port, '127.0.0.1');
    await once(again, 'listening');
    expect((await get()).status).toBe(200);
    again.close();
  });

  test('is closed again by the question whether the gateway is ready', async () => {
    const clock = new ManualClock();
    let cuts = true;
    await using upstream = await rawUpstream((socket) => {
      if (cuts) socket.resetAndDestroy();
      else socket.write('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
    });
    await using served = await through(upstream.url, {}, { clock });
    for (let round = 0; round < 5; round++) await post(served.url);
    cuts = false;
    await clock.advance(5_000);
    expect((await fetch(`${served.url}/readyz`)).status).toBe(200);
    expect((await post(served.url)).status).toBe(404);
  });

  test('does not mind callers who hang up, nor answers that are refusals', async () => {
    await using upstream = await rawUpstream((socket, head) => {
      if (!head.includes('hold')) socket.write(answer('no', { status: '503 Service Unavailable' }));
    });
    await using served = await through(upstream.url);
    for (let round = 0; round < 10; round++) {
      const caller = new AbortController();
      const held = fetch(`${served.url}/v1/models?hold`, { signal: caller.signal });
      await until(() => upstream.heads.length === 2 * round + 1);
      caller.abort();
      await expect(held).rejects.toThrow('aborted');
      expect((await post(served.url)).status).toBe(503);
    }
  });

  test('is tried again after a try that told nothing', async () => {
    const clock = new ManualClock();
    let cuts = true;
    await using upstream = await rawUpstream((socket) => {
      if (cuts) socket.resetAndDestroy();
      else socket.write(answer('ok'));
    });
    await using served = await through(upstream.url, { 'upstream.maxBodyBytes': 100_000 }, { clock });
    for (let round = 0; round < 5; round++) await post(served.url);
    cuts = false;
    await clock.advance(5_000);
    const tooLarge = new ReadableStream({ pull: (controller) => controller.enqueue(Buffer.alloc(150_000)) });
    const tried = await fetch(`${served.url}/v1/files`, { method: 'PUT', body: tooLarge, duplex: 'half' });
    expect(tried.status).toBe(413);
    expect((await post(served.url)).status).toBe(200);
  });

  test('is not open for one upstream because of another', async () => {
    await using upstream = await rawUpstream((socket) => socket.write(answer('ok')));
    const upstreams = JSON.stringify({ messages: await nowhere() });
    await using served = await through(upstream.url, { upstreams });
    for (let round = 0; round < 7; round++) expect((await post(served.url)).status).toBe(502);
    expect((await fetch(`${served.url}/v1/models`)).status).toBe(200);
  });
});

test('a request that goes in a circle ends', async () => {
  const address = createServer().listen(0, '127.0.0.1');
  await once(address, 'listening');
  const { port } = address.address() as AddressInfo;
  const served = await through(`http://127.0.0.1:${port}`);
  // A plain relay, so that the gateway is its own upstream.
  address.on('connection', (socket) => {
    const back = connect(served.port, '127.0.0.1').on('error', silent);
    socket.on('error', silent).pipe(back).pipe(socket);
  });
  const response = await fetch(`${served.url}/v1/models`);
  expect(await response.json()).toMatchObject({ error: 'upstream_unreachable' });
  await served.close();
  address.close();
});

test('a body that is too large is refused before it is sent, or as soon as it is seen', async () => {
  let heard = 0;
  await using upstream = await rawUpstream((socket, _head, rest) => {
    heard += rest.length;
    socket.on('data', (bytes) => (heard += bytes.length));
  });
  await using served = await through(upstream.url, { 'upstream.maxBodyBytes': 100_000 });
  const said = await fetch(`${served.url}/v1/files`, { method: 'POST', body: 'x'.repeat(100_001) });
  expect(await refusalOf(said)).toEqual([413, 'payload_too_large']);
  expect(upstream.heads).toHaveLength(0);
  const chunks = new ReadableStream({
    pull: (controller) => controller.enqueue(Buffer.alloc(50_000)),
  });
  const unsaid = await fetch(`${served.url}/v1/files`, { method: 'POST', body: chunks, duplex: 'half' });
  expect(await refusalOf(unsaid)).toEqual([413, 'payload_too_large']);
  expect(heard).toBeLessThan(200_000);
  await until(() => upstream.sockets.size === 0);
});

describe('an upload', () => {
  test('may take longer than other requests, as long as it goes on', async () => {
    let heard = 0;
    await using upstream = await rawUpstream((socket, _head, rest) => {
      heard = rest.length;
      socket.on('data', (bytes) => {
        heard += bytes.length;
        if (heard === 100_000) socket.write(answer('all'));
      });
    });
    await using served = await through(upstream.url);
    const connected = once(served.listener.server, 'connection');
    const caller = connect(served.port, '127.0.0.1').on('error', silent);
    caller.write('POST /v1/files HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n');
    caller.write('x'.repeat(50_000));
    const [socket] = (await connected) as unknown[];
    await until(() => heard === 50_000);
    // What Node says when the request has not arrived in whole after five minutes.
    const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    served.listener.server.emit('clientError', late, socket);
    caller.write('x'.repeat(50_000));
    const [bytes] = (await once(caller, 'data')) as [Buffer];
    expect(bytes.toString()).toMatch(/^HTTP\/1\.1 200 /);
    caller.destroy();
  });

  test('whose caller stands still is 408, and says nothing about the upstream', async () => {
    const clock = new ManualClock();
    await using upstream = await rawUpstream((socket) => socket.resume());
    await using served = await through(upstream.url, {}, { clock });
    for (let round = 1; round <= 6; round++) {
      const caller = connect(served.port, '127.0.0.1').on('error', silent);
      caller.write('POST /v1/files HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nx');
      await until(() => upstream.heads.length === round);
      const answered = once(caller, 'data');
      await clock.advance(600_000);
      const [bytes] = (await answered) as [Buffer];
      expect(bytes.toString()).toMatch(/^HTTP\/1\.1 408 /);
      caller.destroy();
      await until(() => upstream.sockets.size === 0);
    }
  });

  test('that the upstream does not take is 504', async () => {
    const clock = new ManualClock();
    await using upstream = await rawUpstream((socket) => socket.pause());
    await using served = await through(upstream.url, {}, { clock });
    const chunks = new ReadableStream({ pull: (controller) => controller.enqueue(Buffer.alloc(50_000)) });
    let sent = 0;
    const counted = chunks.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          sent += chunk.length;
          controller.enqueue(chunk);
        },
      }),
    );
    const waiting = fetch(`${served.url}/v1/files`, { method: 'POST', body: counted, duplex: 'half' });
    await standsStill(() => sent);
    await clock.advance(600_000);
    expect(await refusalOf(await waiting)).toEqual([504, 'upstream_timeout']);
  });
});

test('a body that is too large for what is looked into is refused to whoever sends all of it first', async () => {
  await using upstream = await rawUpstream((socket) => socket.write(answer('ok')));
  await using served = await through(upstream.url, { 'upstream.validation': 'enforce' });
  const socket = connect(served.port, '127.0.0.1').pause().on('error', silent);
  socket.write('POST /v1/sessions HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n');
  socket.write('authorization: Bearer t\r\ntransfer-encoding: chunked\r\n\r\n');
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(0x100000, ' '), Buffer.from('\r\n')]);
  const sent = Promise.all(
    Array.from({ length: 20 }, () => new Promise((resolve) => socket.write(chunk, resolve))),
  );
  expect((await sent).every((error) => !(error instanceof Error))).toBe(true);
  let text = '';
  for await (const bytes of socket) text += String(bytes);
  expect(text).toMatch(/^HTTP\/1.1 413 [^]*connection: close[^]*payload_too_large/i);
});
