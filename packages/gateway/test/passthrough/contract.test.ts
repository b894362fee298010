import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { printDrift } from '../../src/admin/drift.ts';
import { driftFile, readDrift } from '../../src/passthrough/drift.ts';
import { answer, exchange, rawUpstream, type RawUpstream } from './raw-upstream.ts';
import { through } from './through.ts';

function dataDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-drift-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

const json = (body: unknown, more: { status?: string; headers?: string } = {}) =>
  answer(JSON.stringify(body), {
    ...more,
    headers: `content-type: application/json\r\n${more.headers ?? ''}`,
  });
const says = (text: string): Promise<RawUpstream> => rawUpstream((socket) => socket.write(text, 'latin1'));
const takeOver = '/v1/code/sessions/s/bridge';
const good = { worker_jwt: 'jwt', api_base_url: 'https://api.example', worker_epoch: 1 };

describe('addresses of workers', () => {
  test('stay as they are, unless told so', async () => {
    await using upstream = await says(json(good));
    await using served = await through(upstream.url);
    expect(await (await fetch(served.url + takeOver, { method: 'POST' })).json()).toEqual(good);
  });

  test('are those of this gateway, where it is told so; all else is as it was', async () => {
    await using upstream = await says(
      json({ ...good, more: { api_base_url: 'kept' } }, { headers: 'etag: "1"\r\nX-Own: 1\r\n' }),
    );
    await using served = await through(
      upstream.url,
      { 'upstream.rewriteWorkerAddresses': true },
      { publicUrl: 'https://front.example' },
    );
    const taken = await fetch(served.url + takeOver, {
      method: 'POST',
      headers: { 'accept-encoding': 'gzip' },
    });
    expect(await taken.json()).toEqual({
      ...good,
      api_base_url: 'https://front.example',
      more: { api_base_url: 'kept' },
    });
    expect([taken.headers.get('x-own'), taken.headers.get('etag')]).toEqual(['1', null]);
    expect(upstream.heads[0]).toMatch(/\r\naccept-encoding: identity\r\n/i);
    expect(upstream.heads[0]).not.toContain('gzip');
  });

  test.each([
    [
      'wss://api.example/v1/environments/e/bridge/ws?a=1',
      'wss://front.example/v1/environments/e/bridge/ws?a=1',
    ],
    ['wss://api.example/base/v1/environments/e/bridge/ws', 'wss://front.example/v1/environments/e/bridge/ws'],
  ])('of a WebSocket keep their path: %s', async (given, expected) => {
    await using upstream = await says(json({ environment_id: 'e', bridge_ws_url: given }));
    await using served = await through(
      `${upstream.url}/base`,
      { 'upstream.rewriteWorkerAddresses': true },
      { publicUrl: 'https://front.example' },
    );
    const registered = await fetch(`${served.url}/v1/environments/bridge`, { method: 'POST', body: '{}' });
    expect(await registered.json()).toEqual({ environment_id: 'e', bridge_ws_url: expected });
  });

  test.each(['x:@evil.example/ws', 'x:.evil.example/ws', 'javascript:0', 'data:,x', '/v1/ws', ''])(
    'of a WebSocket lead to this gateway or nowhere: %j',
    async (given) => {
      await using upstream = await says(json({ environment_id: 'e', bridge_ws_url: given }));
      await using served = await through(upstream.url, { 'upstream.rewriteWorkerAddresses': true });
      const registered = await fetch(`${served.url}/v1/environments/bridge`, { method: 'POST', body: '{}' });
      expect([registered.status, await registered.json()]).toEqual([
        502,
        expect.objectContaining({ error: 'upstream_unfit' }),
      ]);
    },
  );

  test('are found in what is compressed all the same, and in refusals there are none', async () => {
    const packed = gzipSync(JSON.stringify(good)).toString('latin1');
    await using upstream = await says(
      answer(packed, { headers: 'content-encoding: gzip\r\ncontent-type: application/json\r\n' }),
    );
    await using served = await through(upstream.url, { 'upstream.rewriteWorkerAddresses': true });
    const taken = await fetch(served.url + takeOver, { method: 'POST' });
    expect([await taken.json(), taken.headers.get('content-encoding')]).toEqual([
      { ...good, api_base_url: served.url },
      null,
    ]);
    await using refuses = await says(answer('not json', { status: '409 Conflict' }));
    await using second = await through(refuses.url, { 'upstream.rewriteWorkerAddresses': true });
    const refused = await fetch(second.url + takeOver, { method: 'POST' });
    expect([refused.status, await refused.text()]).toEqual([409, 'not json']);
  });

  test.each([
    ['no JSON', answer('<html>')],
    ['too long', answer('x'.repeat(1024 * 1024 + 1))],
    ['of an encoding that nobody asked for', answer('x', { headers: 'content-encoding: zstd\r\n' })],
  ])('in an answer that is %s cannot be rewritten: 502', async (_name, text) => {
    await using upstream = await says(text);
    await using served = await through(upstream.url, { 'upstream.rewriteWorkerAddresses': true });
    const refused = await fetch(served.url + takeOver, { method: 'POST' });
    expect([refused.status, await refused.json()]).toEqual([
      502,
      expect.objectContaining({ error: 'upstream_unfit' }),
    ]);
  });
});

describe('validation', () => {
  const bad = { worker_jwt: 7, api_base_url: 'https://api.example' };

  test('off looks at nothing', async () => {
    const dataDir = dataDirectory();
    await using upstream = await says(json(bad));
    const served = await through(upstream.url, { dataDir });
    expect(await (await fetch(served.url + takeOver, { method: 'POST' })).json()).toEqual(bad);
    await served.close();
    expect(readDrift(driftFile(dataDir))).toEqual([]);
  });

  test('warn passes all on as it is, and writes down what departs', async () => {
    const dataDir = dataDirectory();
    await using upstream = await says(json(bad));
    const served = await through(upstream.url, { dataDir, 'upstream.validation': 'warn' });
    for (let round = 0; round < 2; round++)
      expect(await (await fetch(served.url + takeOver, { method: 'POST' })).json()).toEqual(bad);
    // A request that lacks what the row needs, and one whose secret must not be written down.
    await fetch(`${served.url}/v1/environments/bridge`, {
      method: 'POST',
      body: '{"machine_name":"hunter2","directory":3}',
    });
    await served.close();
    const seen = readDrift(driftFile(dataDir));
    const named = seen.map(({ row, side, path, count }) => [row, side, path, count]);
    expect(named).toEqual(
      expect.arrayContaining([
        ['worker.bridge', 'response', 'worker_jwt', 2],
        ['worker.bridge', 'response', 'worker_epoch', 2],
        ['bridge.register', 'request', 'directory', 1],
        ['bridge.register', 'request', 'headers/x-environment-runner-version', 1],
      ]),
    );
    expect(JSON.stringify(seen)).not.toContain('hunter2');
    expect(upstream.heads).toHaveLength(3);
    // What a gateway has seen before is not forgotten.
    const again = await through(upstream.url, { dataDir, 'upstream.validation': 'warn' });
    await fetch(again.url + takeOver, { method: 'POST' });
    await again.close();
    expect(readDrift(driftFile(dataDir)).find(({ path }) => path === 'worker_jwt')?.count).toBe(3);
  });

  test('warn counts messages, however many members of a list depart, and says what is missing', async () => {
    const dataDir = dataDirectory();
    await using upstream = await says(json([{ id: 1 }, { id: 2 }, { id: 'session_3' }]));
    const served = await through(upstream.url, { dataDir, 'upstream.validation': 'warn' });
    for (let round = 0; round < 2; round++) await (await fetch(`${served.url}/v1/sessions`)).text();
    await served.close();
    const seen = readDrift(driftFile(dataDir)).map(({ path, message, count }) => [path, message, count]);
    expect(seen).toEqual(
      expect.arrayContaining([
        ['*/id', 'Invalid input: expected string, received number', 2],
        ['*/status', 'is required', 2],
      ]),
    );
    expect(new Set(seen.map(([, , count]) => count))).toEqual(new Set([2]));
  });

  test('drift prints what was seen, most often seen first', async () => {
    const dataDir = dataDirectory();
    const printed: string[] = [];
    const print = () => {
      const spy = vi
        .spyOn(process.stdout, 'write')
        .mockImplementation((text) => printed.push(String(text)) > 0);
      printDrift({ dataDir });
      spy.mockRestore();
      return printed.splice(0).join('');
    };
    expect(print()).toMatch(/^No departures .* upstream\.validation is off/);
    await using upstream = await says(json({ ...good, worker_epoch: 'one' }));
    const served = await through(upstream.url, { dataDir, 'upstream.validation': 'warn' });
    for (let round = 0; round < 3; round++) await fetch(served.url + takeOver, { method: 'POST' });
    await served.close();
    expect(print()).toMatch(
      /^COUNT +ROW +SIDE +WHAT +LAST SEEN\n3 +worker\.bridge +response +worker_epoch: /,
    );
  });

  test('warn holds nothing back, however long the answer is, and streams are none of its business', async () => {
    await using upstream = await rawUpstream((socket) =>
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n3\r\n{"a\r\n`,
      ),
    );
    await using served = await through(upstream.url, {
      dataDir: dataDirectory(),
      'upstream.validation': 'warn',
    });
    const caller = new AbortController();
    const response = await fetch(`${served.url}/v1/sessions`, { signal: caller.signal });
    const first = await response.body?.getReader().read();
    expect(Buffer.from(first?.value ?? []).toString()).toBe('{"a');
    caller.abort();
  });

  test('warn passes on what it cannot read, too', async () => {
    const odd = answer('no zstd', {
      headers: 'content-type: application/json\r\ncontent-encoding: zstd\r\n',
    });
    await using upstream = await says(odd);
    await using served = await through(upstream.url, {
      dataDir: dataDirectory(),
      'upstream.validation': 'warn',
    });
    for (let round = 0; round < 2; round++) {
      const text = await exchange(
        served.port,
        `POST ${takeOver} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
      );
      expect(text).toMatch(/^HTTP\/1\.1 200 OK.*\r\n\r\nno zstd$/s);
    }
  });

  test('enforce refuses requests with 400 before they go anywhere, and answers with 502', async () => {
    await using upstream = await says(json(bad));
    await using served = await through(upstream.url, {
      dataDir: dataDirectory(),
      'upstream.validation': 'enforce',
    });
    const refused = await fetch(`${served.url}/v1/environments/bridge`, {
      method: 'POST',
      body: '{"directory":3}',
    });
    expect([refused.status, await refused.json()]).toEqual([
      400,
      expect.objectContaining({
        error: 'invalid_request',
        issues: expect.arrayContaining([{ path: 'machine_name', message: 'is required' }]) as unknown,
      }),
    ]);
    expect(upstream.heads).toEqual([]);
    const unfit = await fetch(served.url + takeOver, { method: 'POST' });
    expect([unfit.status, await unfit.json()]).toEqual([
      502,
      expect.objectContaining({ error: 'upstream_unfit' }),
    ]);
  });

  test('bodies that are waited for are bounded all together, and what was held is given back', async () => {
    await using upstream = await says(json(good));
    await using served = await through(
      upstream.url,
      { dataDir: dataDirectory(), 'upstream.validation': 'enforce' },
      { maxBodyBytesInFlight: 1000 },
    );
    const post = (path: string, bytes: number) =>
      fetch(served.url + path, { method: 'POST', body: ' '.repeat(bytes - 2) + '{}' });
    for (let round = 0; round < 3; round++) expect((await post(takeOver, 800)).status).toBe(200);
    const refused = await post(takeOver, 1500);
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
    expect((await post(takeOver, 800)).status).toBe(200);
    // Nobody looks into it: it is not waited for.
    expect((await post('/v1/logs', 1500)).status).toBe(200);
  });

  test('enforce passes on what conforms byte for byte, in chunks too, and refusals whatever they say', async () => {
    const body = '{ "worker_jwt":"j", "api_base_url":"u", "worker_epoch":1, "more":[1.0] }';
    let status = '200 OK';
    await using upstream = await rawUpstream((socket) =>
      socket.write(
        answer(status === '200 OK' ? body : 'teapot', {
          status,
          headers: 'content-type: application/json\r\n',
        }),
      ),
    );
    await using served = await through(upstream.url, {
      dataDir: dataDirectory(),
      'upstream.validation': 'enforce',
    });
    const text = await exchange(
      served.port,
      `POST ${takeOver} HTTP/1.1\r\nHost: x\r\nConnection: close\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    );
    expect(text.endsWith(`\r\n\r\n${body}`)).toBe(true);
    expect(upstream.heads[0]).toContain('POST /v1/code/sessions/s/bridge');
    status = '418 Teapot';
    const refusal = await fetch(served.url + takeOver, { method: 'POST' });
    expect([refusal.status, await refusal.text()]).toEqual([418, 'teapot']);
  });

  test.each([
    ['warn', 200],
    ['enforce', 502],
  ])('an answer that is too long to be looked into is, under %s, %i', async (validation, status) => {
    const body = JSON.stringify({ ...good, more: 'x'.repeat(1024 * 1024) });
    await using upstream = await says(answer(body, { headers: 'content-type: application/json\r\n' }));
    await using served = await through(upstream.url, {
      dataDir: dataDirectory(),
      'upstream.validation': validation,
    });
    const taken = await fetch(served.url + takeOver, { method: 'POST' });
    expect([taken.status, (await taken.text()) === body]).toEqual([status, status === 200]);
  });

  test('families have no rows to be held to', async () => {
    await using upstream = await says(answer('anything'));
    await using served = await through(upstream.url, {
      dataDir: dataDirectory(),
      'upstream.validation': 'enforce',
    });
    expect(await (await fetch(`${served.url}/v1/messages`, { method: 'POST', body: 'no json' })).text()).toBe(
      'anything',
    );
  });
});
