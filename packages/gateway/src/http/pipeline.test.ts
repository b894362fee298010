import { contract, endpoints, type Endpoint } from '@sallyport/core/contract';
import { ServiceError } from '@sallyport/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve, type ServedApp } from '../../test/serve.ts';
import type { PartialHandlers } from './pipeline.ts';

/** Every row answers with what it got, so that the checks before a handler can be told from the handler's own. */
const reached = new ServiceError('not_found', 'reached');
const handlers = Object.fromEntries(
  Object.entries(contract).map(([area, rows]) => [
    area,
    Object.fromEntries(Object.keys(rows).map((verb) => [verb, () => Promise.reject(reached)])),
  ]),
) as unknown as PartialHandlers;

const tokens = {
  none: undefined,
  optional: undefined,
  access_token: 'access',
  session_key: 'session',
  ingress: 'worker',
};

let served: ServedApp;
beforeAll(async () => void (served = await serve({ handlers })));
afterAll(() => served.close());

interface Sent {
  readonly token?: string | undefined;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
  readonly method?: string;
}

async function call(endpoint: Endpoint, { token, headers, body, method = endpoint.method }: Sent = {}) {
  const answer = await fetch(served.url + endpoint.path.replace(/\{\w+\}/g, 'x'), {
    method,
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
    ...(body !== undefined && { body }),
    redirect: 'manual',
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
  };
}

/** Headers that take a call past the beta check. */
const past = (endpoint: Endpoint): Record<string, string> =>
  endpoint.beta === undefined ? {} : { 'vendor-beta': endpoint.beta };

const authenticated = endpoints.filter(({ auth }) => auth !== 'none' && auth !== 'optional');
const withBody = endpoints.filter(({ body }) => body !== undefined);
const http = endpoints.filter(({ transport }) => transport !== 'websocket');

describe.each(authenticated)('$id', (endpoint) => {
  test('without a credential is 401 with a plain challenge', async () => {
    const { status, headers, body } = await call(endpoint);
    expect([status, body['error']]).toEqual([401, 'invalid_token']);
    expect(headers.get('www-authenticate')).toBe(`Bearer realm="${served.url}"`);
    expect(body['request_id']).toBe(headers.get('request-id'));
  });

  test.each(['Bearer nobody', 'Basic YTpi', 'Bearer', 'Bearer a b'])(
    'with %j is 401 invalid_token',
    async (authorization) => {
      const { status, headers } = await call(endpoint, { headers: { authorization } });
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toBe(`Bearer realm="${served.url}", error="invalid_token"`);
    },
  );

  test('refuses the credentials of the other kinds', async () => {
    for (const token of ['access', 'session', 'worker'].filter((one) => one !== tokens[endpoint.auth])) {
      expect((await call(endpoint, { token })).status).toBe(401);
    }
  });

  test('tells a malformed body only to those who may call', async () => {
    expect(
      (await call(endpoint, { headers: { 'content-type': 'no type' }, ...bodyOf(endpoint) })).status,
    ).toBe(401);
  });
});

describe.each(endpoints.filter(({ scope }) => scope !== undefined))('$id', (endpoint) => {
  test('without the scope is 403 that names it', async () => {
    const { status, headers, body } = await call(endpoint, { token: 'unscoped' });
    expect([status, body['error']]).toEqual([403, 'insufficient_scope']);
    expect(headers.get('www-authenticate')).toContain(
      `error="insufficient_scope", scope="${endpoint.scope ?? ''}"`,
    );
  });
});

describe.each(endpoints.filter(({ permission }) => permission !== undefined))('$id', (endpoint) => {
  test('without the permission is 403, before the beta header is missed', async () => {
    const token = endpoint.permission === 'read' ? 'nothing' : 'viewer';
    const { status, headers, body } = await call(endpoint, { token });
    expect([status, body['error']]).toEqual([403, 'forbidden']);
    expect(headers.get('www-authenticate')).toBeNull();
  });
});

describe.each(endpoints.filter(({ beta }) => beta !== undefined))('$id', (endpoint) => {
  test('without the beta header is 403, before the body is read', async () => {
    const { status, body } = await call(endpoint, { token: 'access', ...bodyOf(endpoint) });
    expect([status, body['error']]).toEqual([403, 'beta_not_enabled']);
  });

  test('takes the beta header as a list', async () => {
    const headers = {
      'vendor-beta': `other-2020-01-01 , ${endpoint.beta ?? ''},x`,
      'content-type': 'application/json',
    };
    expect((await call(endpoint, { token: 'access', headers, ...bodyOf(endpoint) })).status).toBe(400);
  });
});

describe.each(withBody)('$id', (endpoint) => {
  const token = tokens[endpoint.auth];
  const json = { 'content-type': 'application/json', ...past(endpoint) };
  const limit = endpoint.limits?.bodyBytes ?? 1024 * 1024;

  test.each(['text/plain', 'no type', 'application/jsonp', 'multipart/form-data; boundary=x'])(
    'refuses the content type %s',
    async (type) => {
      const headers = { ...past(endpoint), 'content-type': type };
      const { status, body } = await call(endpoint, { token, headers, body: '{}' });
      const expected = endpoint.area === 'oauth' ? [400, 'invalid_request'] : [415, 'unsupported_media_type'];
      expect([status, body['error']]).toEqual(expected);
    },
  );

  test.each(['{', '[1,]', '{"a":1} x', "{'a':1}"])('refuses %j as JSON', async (text) => {
    const { status, body } = await call(endpoint, { token, headers: json, body: text });
    expect([status, body['error']]).toEqual([400, 'invalid_request']);
  });

  test('refuses what is not UTF-8', async () => {
    const { status } = await call(endpoint, { token, headers: json, body: Uint8Array.of(0x22, 0xff, 0x22) });
    expect(status).toBe(400);
  });

  test.each(['[]', '"text"', '1', 'null'])('refuses %s, which is no object', async (text) => {
    const { status, body } = await call(endpoint, { token, headers: json, body: text });
    expect([status, body['error']]).toEqual([400, 'invalid_request']);
    expect(body['issues']).toContainEqual({ path: 'body', message: expect.any(String) as string });
  });

  test('refuses a body over its limit, told or found out', async () => {
    const body = new Uint8Array(limit + 1).fill(0x20);
    const told = await call(endpoint, { token, headers: json, body });
    expect([told.status, told.body['error']]).toEqual([413, 'payload_too_large']);
    const { gzipSync } = await import('node:zlib');
    const found = await call(endpoint, {
      token,
      headers: { ...json, 'content-encoding': 'gzip' },
      body: gzipSync(body),
    });
    expect(found.status).toBe(413);
  });

  test(endpoint.emptyBody === true ? 'takes an empty body as {}' : 'refuses an empty body', async () => {
    const headers = endpoint.emptyBody === true ? json : past(endpoint);
    const bare = await call(endpoint, { token, headers: past(endpoint) });
    const typed = await call(endpoint, { token, headers });
    expect([bare.status, typed.status]).toEqual(endpoint.emptyBody === true ? [404, 404] : [400, 400]);
  });
});

describe.each(http)('$id', (endpoint) => {
  test('answers another method with 405 and Allow', async () => {
    const { status, headers, body } = await call(endpoint, { method: 'PUT' });
    expect([status, body['error']]).toEqual([405, 'method_not_allowed']);
    expect(headers.get('allow')?.split(', ')).toContain(endpoint.method);
  });

  test('carries the request id of a sane caller, and of none else', async () => {
    const kept = await call(endpoint, { headers: { 'request-id': 'mine-1.2_3' } });
    expect(kept.headers.get('request-id')).toBe('mine-1.2_3');
    for (const id of ['a b', 'x'.repeat(129), 'a"b']) {
      const made = await call(endpoint, { headers: { 'request-id': id } });
      expect(made.headers.get('request-id')).toMatch(/^req_[0-9A-Z]{26}$/);
    }
  });
});

describe.each(http.filter(({ method }) => method === 'GET'))('$id', (endpoint) => {
  test('answers HEAD as GET without the body, where GET takes nothing away', async () => {
    const answer = await fetch(served.url + endpoint.path.replace(/\{\w+\}/g, 'x'), { method: 'HEAD' });
    const expected = endpoint.permission === 'write' ? 405 : endpoint.auth === 'access_token' ? 401 : 404;
    expect([answer.status, await answer.text()]).toEqual([expected, '']);
  });
});

describe.each(endpoints.filter(({ area, encodings }) => area === 'oauth' && encodings))('$id', (endpoint) => {
  test('takes a form, and refuses a parameter that comes twice', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
    expect((await call(endpoint, { headers, body: 'client_id=a' })).status).toBe(404);
    const twice = await call(endpoint, { headers, body: 'client_id=a&client_id=a' });
    expect([twice.status, twice.body['error']]).toEqual([400, 'invalid_request']);
  });

  test('is never stored, refusals included', async () => {
    const { headers } = await call(endpoint, { headers: { 'content-type': 'x/y' }, body: 'z' });
    expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
  });
});

function bodyOf(endpoint: Endpoint): { body?: string } {
  return endpoint.method === 'GET' ? {} : { body: '{' };
}
