import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { gate } from '../gate.ts';
import { responseTo } from '../response-to.ts';
import { answer, exchange, rawUpstream, standsStill, until } from './raw-upstream.ts';
import { through } from './through.ts';

const get = (path: string, headers = '') =>
  `GET ${path} HTTP/1.1\r\nHost: front.example\r\nConnection: close\r\n${headers}\r\n`;

describe('an answer', () => {
  test('keeps status, reason, bytes, and the case and repeats of its headers', async () => {
    await using upstream = await rawUpstream((socket) =>
      socket.write(
        answer('\xff\x00body', {
          status: '299 Odd Reason',
          headers: 'X-MiXed: a\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nx-mixed: \xe9\r\nDate: then\r\n',
        }),
        'latin1',
      ),
    );
    await using served = await through(upstream.url);
    const text = await exchange(served.port, get('/v1/models'));
    const [head = '', body = ''] = text.split('\r\n\r\n');
    expect(head.split('\r\n').slice(0, 6)).toEqual([
      'HTTP/1.1 299 Odd Reason',
      'X-MiXed: a',
      'Set-Cookie: a=1',
      'Set-Cookie: b=2',
      'x-mixed: \xe9',
      'Date: then',
    ]);
    expect(head).toMatch(/\r\nvia: 1\.1 sallyport/);
    expect(head).not.toContain('nosniff');
    expect(body).toBe('\xff\x00body');
  });

  test('loses what was for its connection alone, named ones too', async () => {
    await using upstream = await rawUpstream((socket) =>
      socket.write(
        answer('', {
          headers:
            'Connection: keep-alive, X-Secret\r\nX-Secret: 1\r\nKeep-Alive: timeout=5\r\nProxy-Authenticate: B\r\n',
        }),
      ),
    );
    await using served = await through(upstream.url);
    const text = await exchange(served.port, get('/v1/models'));
    expect(text).not.toMatch(/secret|timeout=5|proxy-auth/i);
  });

  test('has its headers before the first byte of its body, of known length or not', async () => {
    const go = gate();
    await using upstream = await rawUpstream((socket, head) => {
      const framing = head.includes('/models') ? 'content-length: 5' : 'content-type: text/event-stream';
      socket.write(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n`);
      void go.opened.then(() => socket.end('data:'));
    });
    await using served = await through(upstream.url);
    const answers = await Promise.all([fetch(`${served.url}/v1/models`), fetch(`${served.url}/v1/messages`)]);
    expect(answers[1].headers.get('x-accel-buffering')).toBe('no');
    go.open();
    expect(await Promise.all(answers.map((one) => one.text()))).toEqual(['data:', 'data:']);
  });

  test('passes each event on as it comes, and its trailers', async () => {
    const steps = [gate(), gate()];
    await using upstream = await rawUpstream(async (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: X-Sum\r\n\r\n3\r\none\r\n');
      await steps[0]?.opened;
      socket.write('3\r\ntwo\r\n');
      await steps[1]?.opened;
      socket.write('0\r\nX-Sum: 6\r\n\r\n');
    });
    await using served = await through(upstream.url);
    const response = await responseTo(`${served.url}/v1/messages`);
    expect(String((await once(response, 'data'))[0])).toBe('one');
    steps[0]?.open();
    expect(String((await once(response, 'data'))[0])).toBe('two');
    steps[1]?.open();
    await once(response, 'end');
    expect(response.rawTrailers).toEqual(['X-Sum', '6']);
  });

  test.each(['204 No Content', '304 Not Modified'])(
    'of %s has no body, and the connection goes on',
    async (status) => {
      await using upstream = await rawUpstream((socket) =>
        socket.write(`HTTP/1.1 ${status}\r\netag: "1"\r\n\r\n`),
      );
      await using served = await through(upstream.url);
      const pair = get('/v1/models').replace('Connection: close\r\n', '') + get('/v1/models');
      const text = await exchange(served.port, pair);
      expect(text.match(/HTTP\/1\.1 [23]04/g)).toHaveLength(2);
      expect(text.endsWith('\r\n\r\n')).toBe(true);
    },
  );

  test('of 204 has no length, whatever the upstream says', async () => {
    await using upstream = await rawUpstream((socket) =>
      socket.write('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\netag: "1"\r\n\r\n'),
    );
    await using served = await through(upstream.url);
    const text = await exchange(served.port, get('/v1/models'));
    expect(text).toMatch(/^HTTP\/1\.1 204 No Content\r\netag: "1"\r\n/);
    expect(text).not.toMatch(/content-length/i);
  });

  test.each([3, 20_000])(
    'of %d bytes keeps the connection, as Node would have it, and its place in line',
    async (length) => {
      const first = gate();
      await using upstream = await rawUpstream(async (socket, head) => {
        if (head.includes('?first')) await first.opened;
        socket.write(answer('x'.repeat(length)));
        if (head.includes('?second')) first.open();
      });
      await using served = await through(upstream.url);
      const keeping = (path: string) => get(path).replace('Connection: close\r\n', '');
      const text = await exchange(
        served.port,
        keeping('/v1/models?first') + keeping('/v1/models?second') + get('/v1/models?third'),
      );
      const heads = text.split('x'.repeat(length)).slice(0, 3);
      expect(heads.map((head) => /Connection: (.*)/i.exec(head)?.[1])).toEqual([
        'keep-alive',
        'keep-alive',
        'close',
      ]);
      for (const head of heads)
        expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\nDate: \w{3}, .* GMT\r\n[^]*\r\n\r\n$/);
      expect(heads.slice(0, 2).map((head) => /Keep-Alive: (.*)/.exec(head)?.[1])).toEqual([
        'timeout=72',
        'timeout=72',
      ]);
    },
  );

  test('to a caller of HTTP/1.0 is one', async () => {
    await using upstream = await rawUpstream((socket) => socket.write(answer('short')));
    await using served = await through(upstream.url);
    const text = await exchange(served.port, 'GET /v1/models HTTP/1.0\r\nHost: x\r\n\r\n');
    expect(text).toMatch(/\r\nConnection: close\r\n[^]*short$/);
  });

  test('to HEAD has the length of what GET would have', async () => {
    await using upstream = await rawUpstream((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n'),
    );
    await using served = await through(upstream.url);
    const head = await fetch(`${served.url}/v1/models`, { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe('12');
  });

  test('after early hints is the one that counts', async () => {
    await using upstream = await rawUpstream((socket) =>
      socket.write(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${answer('late')}`),
    );
    await using served = await through(upstream.url);
    expect(await (await fetch(`${served.url}/v1/models`)).text()).toBe('late');
  });
});

describe('a request', () => {
  test('keeps method, path, query, and the case and repeats of its headers', async () => {
    await using upstream = await rawUpstream((socket) => socket.write(answer()));
    await using served = await through(`${upstream.url}/base`);
    await exchange(
      served.port,
      get(
        '/v1/files/a%20b%2Fc?x=%zz&y=1',
        'X-One: 1\r\nx-one: \xe9\r\nAuthorization: Bearer mine\r\nCookie: a=1\r\n',
      ),
    );
    const [line, ...headers] = upstream.heads[0]?.split('\r\n') ?? [];
    expect(line).toBe('GET /base/v1/files/a%20b%2Fc?x=%zz&y=1 HTTP/1.1');
    expect(headers).toEqual(
      expect.arrayContaining(['X-One: 1', 'x-one: \xe9', 'Authorization: Bearer mine', 'Cookie: a=1']),
    );
    expect(headers).toContain(`host: 127.0.0.1:${upstream.port}`);
  });

  test('loses what was for its connection alone, and nobody can have ours removed', async () => {
    await using upstream = await rawUpstream((socket) => socket.write(answer()));
    await using served = await through(upstream.url);
    await exchange(
      served.port,
      'GET /v1/models HTTP/1.1\r\nHost: front.example:80\r\n' +
        'Connection: close, X-Secret, X-Forwarded-For, Via\r\nX-Secret: 1\r\nTE: trailers\r\nKeep-Alive: 1\r\n' +
        'X-Forwarded-For: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n' +
        'Proxy-Authorization: Basic x\r\nVia: 1.0 other\r\n\r\n',
    );
    const head = upstream.heads[0] ?? '';
    expect(head).not.toMatch(/secret|6\.6\.6\.6|h2c|proxy-auth|\nte:|http2/i);
    expect(head.split('\r\n')).toEqual(
      expect.arrayContaining([
        'x-forwarded-for: 127.0.0.1',
        'x-forwarded-proto: http',
        'x-forwarded-host: front.example:80',
        'forwarded: for=127.0.0.1;host="front.example:80";proto=http',
        'via: 1.1 sallyport',
      ]),
    );
    expect(head).toMatch(/\r\nrequest-id: req_\w+/);
  });

  test('from a proxy in front that is trusted keeps what that says', async () => {
    await using upstream = await rawUpstream((socket) => socket.write(answer()));
    await using served = await through(upstream.url, {}, { trustProxy: true });
    await exchange(
      served.port,
      get('/v1/models', 'X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Proto: https\r\nVia: 1.1 edge\r\n'),
    );
    expect(upstream.heads[0]?.split('\r\n')).toEqual(
      expect.arrayContaining([
        'x-forwarded-for: 1.2.3.4, 127.0.0.1',
        'x-forwarded-proto: https',
        'Via: 1.1 edge',
      ]),
    );
  });

  test.each([
    ['of any kind', 'content-type: nonsense\r\ncontent-length: 5\r\n\r\n{"a":', '{"a":'],
    ['in chunks', 'transfer-encoding: chunked\r\n\r\n2\r\n{"\r\n3\r\na":\r\n0\r\n\r\n', '{"a":'],
    ['that is empty', 'content-length: 0\r\n\r\n', ''],
  ])('has a body %s, which nobody here reads', async (_name, framed, expected) => {
    let body = '';
    await using upstream = await rawUpstream((socket, head, rest) => {
      const done = () => body.includes('0\r\n\r\n') || !/chunked/i.test(head);
      const take = (bytes: Buffer) => {
        body += bytes.toString();
        if (done() && (body.length >= 5 || expected === '')) socket.write(answer('ok'));
      };
      take(rest);
      socket.on('data', take);
    });
    await using served = await through(upstream.url);
    const text = await exchange(
      served.port,
      `POST /v1/messages HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${framed}`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 200/);
    expect(body.replace(/\r\n|^\d+$/gm, '').replace(/^5|0$/g, '')).toBe(expected);
  });

  test('in chunks has its trailers behind them, but for those that nobody may send there', async () => {
    let body = '';
    await using upstream = await rawUpstream((socket, _head, rest) => {
      const take = (bytes: Buffer) => {
        body += bytes.toString();
        if (body.endsWith('\r\n\r\n')) socket.write(answer('ok'));
      };
      take(rest);
      socket.on('data', take);
    });
    await using served = await through(upstream.url);
    const text = await exchange(
      served.port,
      'POST /v1/messages HTTP/1.1\r\nHost: x\r\nConnection: close, X-Named\r\nTrailer: X-Sum\r\n' +
        'Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 6\r\nX-Named: 1\r\nContent-Type: a/b\r\n' +
        'Authorization: Bearer late\r\nHost: evil\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n',
    );
    expect(text).toMatch(/^HTTP\/1\.1 200/);
    expect(upstream.heads[0]).toMatch(/\r\nTrailer: X-Sum/);
    expect(body).toBe('2\r\nok\r\n0\r\nX-Sum: 6\r\n\r\n');
  });

  test('whose path no route has stays here; other methods at a path that goes upstream go there', async () => {
    await using upstream = await rawUpstream((socket) => socket.write(answer('up')));
    await using served = await through(upstream.url);
    expect((await fetch(`${served.url}/v1/nothing`)).status).toBe(404);
    expect((await fetch(`${served.url}/v1/sessions`, { method: 'PATCH' })).status).toBe(200);
    expect((await fetch(`${served.url}/healthz`)).status).toBe(200);
    expect(upstream.heads).toHaveLength(1);
  });
});

test('bodies stream both ways in little memory', async () => {
  const total = 300 * 1024 * 1024;
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  let received = 0;
  await using upstream = await rawUpstream((socket, _head, rest) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${total}\r\n\r\n`);
    received = rest.length;
    socket.on('data', (bytes) => {
      received += bytes.length;
      if (!socket.write(bytes)) {
        socket.pause();
        socket.once('drain', () => socket.resume());
      }
    });
    socket.write(rest);
  });
  await using served = await through(upstream.url);
  const before = process.memoryUsage().rss;
  let peak = 0;
  const upload = httpRequest(`${served.url}/v1/files`, {
    method: 'POST',
    headers: { 'content-length': total },
  });
  const responded = once(upload, 'response');
  const send = (sent: number): void => {
    if (sent >= total) return void upload.end();
    if (upload.write(chunk)) setImmediate(send, sent + chunk.length);
    else upload.once('drain', () => send(sent + chunk.length));
  };
  send(0);
  const [response] = (await responded) as [IncomingMessage];
  let back = 0;
  for await (const bytes of response) {
    back += (bytes as Buffer).length;
    peak = Math.max(peak, process.memoryUsage().rss);
  }
  expect([received, back]).toEqual([total, total]);
  expect(peak - before).toBeLessThan(200 * 1024 * 1024);
});

test('a caller who does not read holds the upstream back', async () => {
  let written = 0;
  await using upstream = await rawUpstream((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const chunk = Buffer.alloc(256 * 1024);
    const more = () => {
      do written += chunk.length;
      while (socket.write(chunk) && written < 1e9);
    };
    socket.on('drain', more);
    more();
  });
  await using served = await through(upstream.url);
  const response = await responseTo(`${served.url}/v1/files`);
  await standsStill(() => written);
  expect(written).toBeLessThan(64 * 1024 * 1024);
  response.destroy();
  await until(() => upstream.sockets.size === 0);
});
