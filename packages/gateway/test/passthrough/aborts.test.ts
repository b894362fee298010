import { once } from 'node:events';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { responseTo } from '../response-to.ts';
import { answer, exchange, rawUpstream, until } from './raw-upstream.ts';
import { through } from './through.ts';

const silent = () => undefined;

/** The first megabyte of an upload of so many bytes. */
function beginUpload(url: string, size: number): ClientRequest {
  const options = { method: 'POST', headers: { 'content-length': size } };
  const call = httpRequest(`${url}/v1/files`, options).on('error', silent);
  call.write(Buffer.alloc(1e6));
  return call;
}

describe('a caller who hangs up', () => {
  test('before the answer begins ends the request upstream', async () => {
    await using upstream = await rawUpstream(silent);
    await using served = await through(upstream.url);
    const call = httpRequest(`${served.url}/v1/messages`, { method: 'POST' }).on('error', silent);
    call.end('{}');
    await until(() => upstream.heads.length === 1);
    call.destroy();
    await until(() => upstream.sockets.size === 0);
  });

  test('in the middle of the answer, too', async () => {
    await using upstream = await rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\ndata: 1\n\n'));
    await using served = await through(upstream.url);
    const response = await responseTo(`${served.url}/v1/messages`);
    await once(response, 'data');
    response.destroy();
    await until(() => upstream.sockets.size === 0);
  });

  test('in the middle of an upload, too', async () => {
    await using upstream = await rawUpstream((socket) => socket.resume());
    await using served = await through(upstream.url);
    const call = beginUpload(served.url, 1e9);
    await until(() => upstream.heads.length === 1);
    call.destroy();
    await until(() => upstream.sockets.size === 0);
  });

  test('after the answer leaves the connection upstream to the next', async () => {
    await using upstream = await rawUpstream((socket) => socket.write(answer('ok')));
    await using served = await through(upstream.url);
    for (let round = 0; round < 3; round++)
      await exchange(served.port, 'GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect([upstream.heads.length, upstream.sockets.size]).toEqual([3, 1]);
  });

  test('a thousand times leaves no socket behind, and the gateway serves on', async () => {
    await using upstream = await rawUpstream((socket, head) => {
      // Some have no answer yet, some a part of it, some all.
      const kind = Number(/n=(\d+)/.exec(head)?.[1]) % 3;
      if (kind === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf');
      if (kind === 2) socket.end(answer('all', { headers: 'connection: close\r\n' }));
    });
    await using served = await through(upstream.url);
    for (let batch = 0; batch < 20; batch++) {
      const callers = Array.from({ length: 50 }, (_none, n) => {
        const socket = connect(served.port, '127.0.0.1').on('error', silent);
        socket.write(`GET /v1/models?n=${n} HTTP/1.1\r\nHost: x\r\n\r\n`);
        return socket;
      });
      const heard = upstream.heads.length;
      if (batch % 2 === 0) await until(() => upstream.heads.length >= heard + 25);
      for (const [n, socket] of callers.entries())
        if (n % 2 === 0) socket.destroy();
        else socket.resetAndDestroy();
    }
    await until(() => upstream.sockets.size === 0);
    expect((await fetch(`${served.url}/v1/models?n=2`)).status).toBe(200);
  });
});

describe('an upstream that hangs up', () => {
  test('in the middle of an answer cuts it off for the caller, who then knows', async () => {
    await using upstream = await rawUpstream((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf');
      setImmediate(() => socket.resetAndDestroy());
    });
    await using served = await through(upstream.url);
    const cut = fetch(`${served.url}/v1/models`).then((response) => response.text());
    await expect(cut).rejects.toThrow('terminated');
    expect((await fetch(`${served.url}/healthz`)).status).toBe(200);
  });

  test('in the middle of chunks, too', async () => {
    await using upstream = await rawUpstream((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n');
      setImmediate(() => socket.end());
    });
    await using served = await through(upstream.url);
    const text = await exchange(served.port, 'GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(text).toMatch(/4\r\nhalf\r\n$/);
  });

  test('in the middle of an upload is 502, and the answer is not lost', async () => {
    await using upstream = await rawUpstream((socket) => socket.resetAndDestroy());
    await using served = await through(upstream.url);
    const call = beginUpload(served.url, 50e6);
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    expect([response.statusCode, response.headers.connection]).toEqual([502, 'close']);
    call.destroy();
  });
});

test('an upstream that answers before it has heard all is heard', async () => {
  await using upstream = await rawUpstream((socket) =>
    socket.write(answer('{"error":"no"}', { status: '413 Payload Too Large' })),
  );
  await using served = await through(upstream.url);
  const call = beginUpload(served.url, 50e6);
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  expect([response.statusCode, text]).toEqual([413, '{"error":"no"}']);
  await until(() => upstream.sockets.size === 0);
  call.destroy();
});

test('an upstream that refuses an upload and hangs up at once is heard, and is in no trouble', async () => {
  await using upstream = await rawUpstream((socket) =>
    socket.write(answer('no', { status: '413 Payload Too Large', headers: 'connection: close\r\n' }), () =>
      socket.destroy(),
    ),
  );
  await using served = await through(upstream.url);
  const zeros = Buffer.alloc(64 * 1024);
  for (let round = 0; round < 10; round++) {
    const headers = { 'content-length': 50e6 };
    const call = httpRequest(`${served.url}/v1/files`, { method: 'POST', headers }).on('error', silent);
    const more = () => {
      while (call.write(zeros));
    };
    call.on('drain', more);
    more();
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    call.off('drain', more).destroy();
  }
});
