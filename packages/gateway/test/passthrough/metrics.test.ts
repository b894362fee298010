import { once } from 'node:events';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { responseTo } from '../response-to.ts';
import { answer, rawUpstream, until } from './raw-upstream.ts';
import { through } from './through.ts';

/** Samples by name and labels, as Prometheus reads them (text format 0.0.4). */
async function scrape(url: string, headers: Record<string, string> = {}): Promise<Map<string, number>> {
  const response = await fetch(`${url}/metrics`, { headers });
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  const samples = new Map<string, number>();
  const types = new Set<string>();
  for (const line of (await response.text()).split('\n').filter(Boolean)) {
    const type = /^# TYPE (\w+) (counter|gauge|histogram|summary)$/.exec(line);
    if (type) {
      const [, name = '', kind] = type;
      expect(types.has(name)).toBe(false);
      // As Prometheus has its names; those of the process are prom-client's.
      if (name.startsWith('sallyport_'))
        expect([name, name.endsWith('_total')]).toEqual([name, kind === 'counter']);
      types.add(type[1] ?? '');
    }
    if (line.startsWith('#')) continue;
    const [, name = '', labels = '', value] =
      /^([a-zA-Z_]\w*)(?:\{((?:\w+="[^"\\\n]*",?)*)\})? (\S+)$/.exec(line) ?? [];
    expect([line, name === '' || Number.isNaN(Number(value?.replace(/^nan$/i, '0')))]).toEqual([line, false]);
    const key = labels === '' ? name : `${name}{${labels.split(',').sort().join(',')}}`;
    expect([key, samples.has(key)]).toEqual([key, false]);
    samples.set(key, Number(value?.replace(/^nan$/i, '0')));
  }
  return samples;
}

test('requests are counted by row, upstream and status, never by path', async () => {
  await using upstream = await rawUpstream((socket, head) =>
    socket.write(answer('four', { status: head.includes('missing') ? '404 Not Found' : '200 OK' })),
  );
  await using served = await through(upstream.url);
  for (const path of ['/v1/models', '/v1/models/one', '/v1/models/missing-secret-path', '/v1/sessions'])
    await (await fetch(served.url + path)).text();
  await fetch(`${served.url}/v1/messages`, { method: 'POST', body: '12345' }).then((r) => r.text());
  const samples = await scrape(served.url);
  const models = `area="models",row="models",upstream="${upstream.url}"`;
  const named = (name: string, labels: string) =>
    samples.get(`sallyport_${name}{${labels.split(',').sort().join(',')}}`);
  expect(named('requests_total', `${models},status="2xx"`)).toBe(2);
  expect(named('requests_total', `${models},status="4xx"`)).toBe(1);
  expect(
    named('requests_total', `area="sessions",row="sessions.list",upstream="${upstream.url}",status="2xx"`),
  ).toBe(1);
  expect(named('sent_bytes_total', models)).toBe(12);
  expect(named('received_bytes_total', models.replaceAll('models', 'messages'))).toBe(5);
  expect(named('requests_in_flight', models)).toBe(0);
  for (const name of ['upstream_seconds', 'gateway_seconds']) {
    expect(named(`${name}_count`, models)).toBe(3);
    expect(named(`${name}_bucket`, `${models},le="+Inf"`)).toBe(3);
    expect(named(`${name}_sum`, models)).toBeGreaterThan(0);
  }
  expect(samples.get(`sallyport_upstream_breaker_state{upstream="${upstream.url}"}`)).toBe(0);
  expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(0);
  expect([...samples.keys()].join()).not.toMatch(/secret|\/v1\//);
});

test('a status that is none of the five classes is one of the last', async () => {
  await using upstream = await rawUpstream((socket) => socket.write(answer('', { status: '999 Odd' })));
  await using served = await through(upstream.url);
  expect((await fetch(`${served.url}/v1/models`)).status).toBe(999);
  const statuses = [...(await scrape(served.url)).keys()].flatMap(
    (key) => /status="(.*?)"/.exec(key)?.[1] ?? [],
  );
  expect(statuses).toEqual(['5xx']);
});

test('what is open, what was sent again, and a breaker that is open are told', async () => {
  let cuts = 0;
  await using upstream = await rawUpstream((socket, head) => {
    if (head.includes('stream'))
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\n');
    else if (cuts-- > 0) socket.resetAndDestroy();
    else socket.write(answer('ok'));
  });
  await using served = await through(upstream.url);
  const labels = `area="models",row="models",upstream="${upstream.url}"`;
  const open = await responseTo(`${served.url}/v1/models?stream`);
  cuts = 1;
  expect((await fetch(`${served.url}/v1/models`)).status).toBe(200);
  let samples = await scrape(served.url);
  expect(samples.get(`sallyport_requests_in_flight{${labels}}`)).toBe(1);
  expect(samples.get(`sallyport_upstream_retries_total{${labels}}`)).toBe(1);
  open.destroy();
  await until(() => upstream.sockets.size <= 1);
  cuts = 100;
  for (let round = 0; round < 5; round++)
    await fetch(`${served.url}/v1/messages`, { method: 'POST', body: '{}' });
  samples = await scrape(served.url);
  expect(samples.get(`sallyport_upstream_breaker_state{upstream="${upstream.url}"}`)).toBe(2);
  expect(
    samples.get(
      `sallyport_requests_total{area="models",row="models",status="cut",upstream="${upstream.url}"}`,
    ),
  ).toBe(1);
});

test('a WebSocket counts its bytes both ways', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  server.on('connection', (socket) =>
    socket.on('message', (data: Buffer) => socket.send(Buffer.concat([data, data]))),
  );
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  await using served = await through(origin);
  const socket = new WebSocket(`ws://127.0.0.1:${served.port}/api/ws/voice/one`, {
    perMessageDeflate: false,
  });
  await once(socket, 'open');
  socket.send('x'.repeat(1000));
  await once(socket, 'message');
  socket.close();
  await once(socket, 'close');
  const labels = `area="voice",row="voice",upstream="${origin}"`;
  await expect
    .poll(async () => (await scrape(served.url)).get(`sallyport_sent_bytes_total{${labels}}`))
    .toBeGreaterThan(0);
  const samples = await scrape(served.url);
  // Frames have 4 to 8 bytes of their own, and so have those of the end.
  for (const [name, bytes] of [
    ['received', 1000],
    ['sent', 2000],
  ] as const) {
    const counted = samples.get(`sallyport_${name}_bytes_total{${labels}}`);
    expect(counted).toBeGreaterThanOrEqual(bytes);
    expect(counted).toBeLessThan(bytes + 40);
  }
  server.close();
});

test('programs on the same machine may read, a proxy for others may not', async () => {
  await using upstream = await rawUpstream((socket) => socket.write(answer('upstream')));
  await using served = await through(upstream.url);
  expect((await scrape(served.url)).size).toBeGreaterThan(10);
  const refusals: [string, string][] = [
    ...['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via'].map(
      (name): [string, string] => [name, '1.1 edge'],
    ),
    // What a proxy that adds nothing passes on, and a browser whose name for this address was rebound.
    ...['gateway.example', 'gateway.example:8787', '10.0.0.1'].map((host): [string, string] => [
      'host',
      host,
    ]),
  ];
  for (const [name, value] of refusals) {
    const { statusCode, body } = await request(`${served.url}/metrics`, { headers: { [name]: value } });
    expect([statusCode, await body.json()], `${name}: ${value}`).toEqual([
      403,
      expect.objectContaining({ error: 'forbidden' }),
    ]);
  }
  expect(upstream.heads).toEqual([]);
});

test('with a token, who has it may read, and nobody else', async () => {
  await using upstream = await rawUpstream((socket) => socket.write(answer()));
  await using served = await through(upstream.url, {}, { metricsToken: 'scrape-me-0123456789' });
  const via = { via: '1.1 edge' };
  expect(
    (await scrape(served.url, { ...via, authorization: 'Bearer scrape-me-0123456789' })).size,
  ).toBeGreaterThan(10);
  for (const authorization of [undefined, 'Bearer wrong', 'Bearer ', 'Basic scrape-me-0123456789']) {
    const refused = await fetch(`${served.url}/metrics`, {
      headers: authorization === undefined ? {} : { authorization },
    });
    expect([refused.status, refused.headers.get('www-authenticate')?.slice(0, 6)]).toEqual([401, 'Bearer']);
  }
});

test('a trace goes on to the upstream, and none is made up', async () => {
  await using upstream = await rawUpstream((socket) => socket.write(answer()));
  await using served = await through(upstream.url);
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  await fetch(`${served.url}/v1/models`, { headers: { traceparent, tracestate: 'a=1,b=2' } });
  await fetch(`${served.url}/v1/models`);
  expect(upstream.heads[0]).toContain(`\r\ntraceparent: ${traceparent}\r\ntracestate: a=1,b=2\r\n`);
  expect(upstream.heads[1]).not.toContain('trace');
});
