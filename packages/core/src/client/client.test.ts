import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../testing/index.ts';
import { undiciTransport } from '../transport/undici.ts';
import { createClient } from './client.ts';
import type { ClientOptions } from './call.ts';
import { streamSession } from './event-stream.ts';

const transport = undiciTransport({ proxyFromEnvironment: false });
afterAll(() => transport.close());

let server: Server;
let baseUrl: string;
let answer: RequestListener;
let seen: (IncomingMessage & { body: string })[];

beforeEach(async () => {
  seen = [];
  server = createServer((request, response) => {
    void request.toArray().then(
      (chunks) => {
        seen.push(Object.assign(request, { body: Buffer.concat(chunks as Buffer[]).toString() }));
        answer(request, response);
      },
      () => undefined, // whoever asked hung up amid it
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function json(status: number, body: unknown, headers: Record<string, string> = {}): RequestListener {
  return (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

const tokens = { token: () => Promise.resolve('t0') };
const client = (more: Partial<ClientOptions> = {}) => createClient({ baseUrl, transport, tokens, ...more });

describe('a call', () => {
  const create = {
    headers: {
      'vendor-client-feature': 'ccr',
      'x-organization-uuid': 'o',
      'x-environment-runner-version': '1',
    },
    body: { environment_id: 'env_1', title: 'Look' },
  };

  test('that creates is repeated with an idempotency key, and only with one', async () => {
    const retries: unknown[] = [];
    const clock = new ManualClock();
    answer = (request, response) =>
      (seen.length < 3 ? json(503, {}) : json(200, { id: 's' }))(request, response);
    const keyed = { ...create, headers: { ...create.headers, 'idempotency-key': 'k' } };
    const created = client({ clock }).sessions.create({
      ...keyed,
      onRetry: ({ attempt, cause, waitMs }) => {
        retries.push([attempt, cause]);
        // Once it sleeps.
        setImmediate(() => void clock.advance(waitMs));
      },
    });
    expect(await created).toEqual({ id: 's' });
    expect(retries).toEqual([
      [1, 503],
      [2, 503],
    ]);
    expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual(['k', 'k', 'k']);
    answer = json(503, {});
    await expect(client({ clock }).sessions.create(create)).rejects.toMatchObject({ status: 503 });
    expect(seen).toHaveLength(4);
  });

  test('is what the row says, in the dialect', async () => {
    answer = json(200, { id: 'session_1' });
    await client({
      dialect: { vendor: 'acme', agent: 'robot' },
      headers: { 'user-agent': 'test/1' },
    }).sessions.create(create);
    expect(seen[0]).toMatchObject({
      method: 'POST',
      url: '/v1/sessions',
      body: '{"environment_id":"env_1","title":"Look"}',
    });
    expect(seen[0]?.headers).toMatchObject({
      authorization: 'Bearer t0',
      'acme-beta': 'ccr-byoc-2025-07-29',
      'acme-client-feature': 'ccr',
      'content-type': 'application/json',
      'user-agent': 'test/1',
      'request-id': expect.stringMatching(/^req_\w{26}$/) as string,
    });
    expect(Object.keys(seen[0]?.headers ?? {}).filter((name) => name.startsWith('vendor'))).toEqual([]);
  });

  test('escapes what stands in the path, leaves out what is not given, keeps a prefix', async () => {
    answer = json(200, null);
    const result = await client({ baseUrl: `${baseUrl}/prefix/` }).bridge.poll({
      params: { env_id: 'a/../b c' },
      query: { block_ms: 25 },
    });
    expect(result).toBeNull();
    expect(seen[0]?.url).toBe('/prefix/v1/environments/a%2F..%2Fb%20c/work/poll?block_ms=25');
  });

  test('carries no bearer where the row needs none', async () => {
    answer = json(200, { access_token: 'a', expires_in: 1 });
    await client().oauth.token({ body: { grant_type: 'refresh_token' } });
    expect(seen[0]?.headers.authorization).toBeUndefined();
  });

  test('that may have a bearer goes without one where there is no login', async () => {
    answer = json(200, { account: { uuid: 'u', memberships: [] } });
    const none = {
      token: () => Promise.reject(Object.assign(new Error('no login'), { code: 'login_required' })),
    };
    await client({ tokens: none }).account.bootstrap();
    expect(seen[0]?.headers.authorization).toBeUndefined();
    await expect(client({ tokens: none }).oauth.profile()).rejects.toThrow('no login');
  });

  test('gives text as text, an empty answer as undefined', async () => {
    answer = (_request, response) => response.end('tdt_1');
    expect(await client().devices.trust({ body: { display_name: 'x' } })).toBe('tdt_1');
    answer = (_request, response) => response.writeHead(204).end();
    expect(await client().bridge.poll({ params: { env_id: 'e' } })).toBeUndefined();
  });

  test('sends a form with its file', async () => {
    answer = json(200, { feedback_id: 'fb_1' });
    const bundle = new File([Uint8Array.of(0x50, 0x4b)], 'Gesprächs–日志.zip');
    await client().feedback.bundle({ body: { description: 'It hangs.', bundle } });
    const { headers, body } = seen[0] ?? { headers: {}, body: '' };
    expect(headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(headers['content-length']).toBe(String(Buffer.byteLength(body)));
    expect(body).toMatch(/name="description"\r\n\r\nIt hangs\.\r\n/);
    expect(body).toMatch(/name="bundle"; filename="Gesprächs–日志\.zip"\r\n[^]*\r\n\r\nPK\r\n/);
  });

  test('asks once more with a fresh token after a 401, and only once', async () => {
    answer = json(401, { error: 'invalid_token', error_description: 'expired', request_id: 'req_1' });
    const asked: unknown[] = [];
    const counting = {
      token: (options?: { forceRefresh?: boolean }) => {
        asked.push(options?.forceRefresh);
        return Promise.resolve(`t${asked.length}`);
      },
    };
    await expect(client({ tokens: counting }).oauth.profile()).rejects.toMatchObject({
      code: 'invalid_token',
    });
    expect(asked).toEqual([false, true]);
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer t1', 'Bearer t2']);
    await expect(client().oauth.profile({ bearer: 'own' })).rejects.toMatchObject({ code: 'invalid_token' });
    expect(seen).toHaveLength(3);
  });
});

describe('a refusal', () => {
  test('is the error that the service threw', async () => {
    answer = json(
      409,
      {
        error: 'already_registered',
        error_description: 'Held.',
        request_id: 'req_9',
        environment_id: 'env_1',
      },
      { 'retry-after': '2' },
    );
    await expect(client().sessions.get({ params: { id: 's' } })).rejects.toMatchObject({
      name: 'ServiceError',
      status: 409,
      code: 'already_registered',
      message: 'Held.',
      requestId: 'req_9',
      retryAfterMs: 2000,
      details: { environment_id: 'env_1' },
    });
  });

  test('has as issues only what are some, whatever another server puts there', async () => {
    const issue = { path: 'body/title', message: 'is too long' };
    answer = json(400, {
      error: 'invalid_request',
      issues: [null, 'x', {}, { path: 1, message: 'm' }, issue],
    });
    await expect(client().sessions.list()).rejects.toMatchObject({ issues: [issue] });
  });

  test.each([
    [502, '<html>Bad gateway</html>', { name: 'ServiceError', status: 502, code: 'internal_error' }],
    [404, '', { name: 'ServiceError', status: 404, code: 'not_found' }],
    [302, '<html>Sign in to the hotel</html>', { name: 'TransportError', code: 'unexpected_answer' }],
    [200, '<html>Sign in to the hotel</html>', { name: 'TransportError', code: 'unexpected_answer' }],
  ])('%i with %j is told as what it is', async (status, body, error) => {
    answer = (_request, response) => response.writeHead(status, { 'content-type': 'text/html' }).end(body);
    await expect(client().sessions.list()).rejects.toMatchObject(error);
  });
});

test('a session stream gives events and notices', async () => {
  const event = { id: 'evt_1', seq: 4, type: 'session.output', session_id: 's', created_at: 'now', data: {} };
  answer = (_request, response) =>
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(
        `retry: 2000\n\n: ka\n\nid: 4\ndata: ${JSON.stringify(event)}\n\nevent: caught_up\ndata: {"seq":4}\n\n`,
      );
  const frames = [];
  for await (const frame of streamSession({ baseUrl, transport, tokens }, 's', { fromSeq: 3 }))
    frames.push(frame);
  expect(seen[0]?.url).toBe('/v1/sessions/s/events/stream?beta=true&from_seq=3');
  expect(frames).toEqual([
    { kind: 'event', event },
    { kind: 'notice', type: 'caught_up', data: { seq: 4 } },
  ]);
});
