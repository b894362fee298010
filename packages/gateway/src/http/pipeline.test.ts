import {
  defaultLimits,
  endpoints,
  families,
  isRateLimited,
  mediaTypes,
  type Endpoint,
} from '@sallyport/core/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pastBeta, pathWithin, reachedHandlers, tokens } from '../../test/every-row.ts';
import { serve, type ServedApp } from '../../test/serve.ts';
import { pageSize } from '../routes/page.ts';

let served: ServedApp;
beforeAll(async () => void (served = await serve({ handlers: reachedHandlers })));
afterAll(() => served.close());

interface Sent {
  readonly token?: string | undefined;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
  readonly method?: string;
}

async function call(endpoint: Endpoint, { token, headers, body, method = endpoint.method }: Sent = {}) {
  const answer = await fetch(served.url + pathWithin(endpoint), {
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

const authenticated = endpoints.filter(({ auth }) => auth !== 'none' && auth !== 'optional');
const withBody = endpoints.filter(({ body }) => body !== undefined);
/** A row that takes protobuf decodes by itself: its own tests have it. */
const withJson = withBody.filter(
  ({ encodings = ['json'] }) => encodings.includes('json') && !encodings.includes('protobuf'),
);
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
    const past = endpoint.body === undefined ? 404 : 400;
    expect((await call(endpoint, { token: 'access', headers, ...bodyOf(endpoint) })).status).toBe(past);
  });
});

describe.each(withBody)('$id', (endpoint) => {
  const token = tokens[endpoint.auth];
  const taken = (endpoint.encodings ?? ['json']).flatMap((encoding) => mediaTypes[encoding]);
  const others = Object.values(mediaTypes)
    .flat()
    .filter((type) => !taken.includes(type));

  test.each(['text/plain', 'no type', 'application/jsonp', ...others])(
    'refuses the content type %s',
    async (type) => {
      const headers = { ...pastBeta(endpoint), 'content-type': type };
      const { status, body } = await call(endpoint, { token, headers, body: '{}' });
      const expected = endpoint.area === 'oauth' ? [400, 'invalid_request'] : [415, 'unsupported_media_type'];
      expect([status, body['error']]).toEqual(expected);
    },
  );
});

describe.each(withJson)('$id', (endpoint) => {
  const token = tokens[endpoint.auth];
  const json = { 'content-type': 'application/json', ...pastBeta(endpoint) };
  const limit = endpoint.limits?.bodyBytes ?? defaultLimits.bodyBytes;

  test.each(['{', '[1,]', '{"a":1} x', "{'a':1}"])('refuses %j as JSON', async (text) => {
    const { status, body } = await call(endpoint, { token, headers: json, body: text });
    expect([status, body['error']]).toEqual([400, 'invalid_request']);
  });

  test('refuses a content encoding that it cannot read, and names those that it can', async () => {
    const headers = { ...json, 'content-encoding': 'br' };
    const answer = await call(endpoint, { token, headers, body: '{}' });
    const expected = endpoint.area === 'oauth' ? [400, 'invalid_request'] : [415, 'unsupported_media_type'];
    expect([answer.status, answer.body['error']]).toEqual(expected);
    expect(answer.headers.get('accept-encoding')).toBe('gzip, deflate');
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

  test(endpoint.emptyBody !== undefined ? 'takes an empty body as {}' : 'refuses an empty body', async () => {
    const headers = endpoint.emptyBody !== undefined ? json : pastBeta(endpoint);
    const bare = await call(endpoint, { token, headers: pastBeta(endpoint) });
    const typed = await call(endpoint, { token, headers });
    expect([bare.status, typed.status]).toEqual(endpoint.emptyBody !== undefined ? [404, 404] : [400, 400]);
  });
});

describe.each(endpoints)('$id', (endpoint) => {
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
    const answer = await fetch(served.url + pathWithin(endpoint), { method: 'HEAD' });
    const expected = endpoint.permission === 'write' ? 405 : endpoint.auth === 'access_token' ? 401 : 404;
    expect([answer.status, await answer.text()]).toEqual([expected, '']);
  });
});

describe.each(endpoints.filter(({ area, encodings }) => area === 'oauth' && encodings))('$id', (endpoint) => {
  test('takes a form, and refuses a parameter that comes twice', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
    const token = tokens[endpoint.auth];
    expect((await call(endpoint, { token, headers, body: 'client_id=a' })).status).toBe(404);
    const twice = await call(endpoint, { token, headers, body: 'client_id=a&client_id=a' });
    expect([twice.status, twice.body['error']]).toEqual([400, 'invalid_request']);
  });

  test('is never stored, refusals included', async () => {
    const { headers } = await call(endpoint, { headers: { 'content-type': 'x/y' }, body: 'z' });
    expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
  });
});

describe.each(endpoints.filter(isRateLimited))('$id', (endpoint) => {
  test('is limited by caller, after identity and rights, before the body', async () => {
    await using limited = await serve({ handlers: reachedHandlers }, { rateLimits: { [endpoint.id]: 1 } });
    const ask = (headers: Record<string, string>) =>
      fetch(limited.url + pathWithin(endpoint), { method: endpoint.method, headers });
    const rights = {
      ...(endpoint.auth === 'access_token' && { authorization: 'Bearer access' }),
      ...pastBeta(endpoint),
      'content-type': 'no type',
    };
    const first = await ask(rights);
    expect(first.status).not.toBe(429);
    expect([first.headers.get('ratelimit-policy'), first.headers.get('ratelimit')]).toEqual([
      '"default";q=1;w=60',
      '"default";r=0;t=60',
    ]);
    const second = await ask(rights);
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '60']);
    expect(await second.json()).toMatchObject({ error: 'rate_limited' });
    if (endpoint.auth !== 'access_token') return;
    expect((await ask({ authorization: 'Bearer access-2', ...pastBeta(endpoint) })).status).not.toBe(429);
    expect((await ask({ authorization: 'Bearer nobody' })).status).toBe(401);
  });
});

describe.each(endpoints.filter(({ limits }) => limits?.pageSize !== undefined))('$id', (endpoint) => {
  const ask = (query: string) =>
    call(
      { ...endpoint, path: `${endpoint.path}?${query}` },
      { token: 'access', headers: pastBeta(endpoint) },
    );

  test.each(['limit=0', 'limit=-1', 'limit=', 'limit=ten', 'limit=1.5', 'limit=1e2', 'limit=1&limit=2'])(
    'refuses %s',
    async (query) => {
      const { status, body } = await ask(query);
      expect([status, body['issues']]).toEqual([
        400,
        [{ path: 'query/limit', message: expect.any(String) as string }],
      ]);
    },
  );

  test('takes any other limit, and serves at most the most', async () => {
    for (const query of ['', 'limit=1', 'limit=1000', 'limit=1001', 'limit=999999999999999'])
      expect((await ask(query)).status).toBe(404);
    expect([undefined, 7, 1001].map((limit) => pageSize(endpoint, limit))).toEqual([
      endpoint.limits?.pageSize,
      7,
      1000,
    ]);
  });
});

describe.each(endpoints.filter(({ headers }) => 'idempotency-key' in (headers?.shape ?? {})))(
  '$id',
  (endpoint) => {
    test('refuses an idempotency key that is too long', async () => {
      const headers = {
        ...pastBeta(endpoint),
        'content-type': 'application/json',
        'idempotency-key': 'k'.repeat(256),
      };
      const { status, body } = await call(endpoint, { token: 'access', headers, body: '{}' });
      expect(status).toBe(400);
      expect(body['issues']).toContainEqual({
        path: 'headers/idempotency-key',
        message: expect.any(String) as string,
      });
    });
  },
);

describe.each(endpoints)('$id', (endpoint) => {
  test('refuses in the one shape, with the request id of the header', async () => {
    const headers = endpoint.transport === 'websocket' ? {} : { 'content-type': 'no type' };
    const refused = await call(endpoint, { token: 'broken', headers });
    if (refused.status < 400) return expect(endpoint.auth).toMatch(/none|optional/);
    expect(refused.body).toMatchObject({
      error: expect.stringMatching(/^[a-z_]+$/) as string,
      error_description: expect.stringMatching(/\.$/) as string,
      request_id: refused.headers.get('request-id'),
    });
    expect(refused.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(refused.headers.get('cache-control')).toBe('no-store');
  });
});

describe.each(families)('the family $name', ({ prefix }) => {
  test.each(['', '/', '/x', '/x/y?z=1'])('answers 501 at %j, to those who may call', async (rest) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const ask = (headers: Record<string, string>) => fetch(served.url + prefix + rest, { method, headers });
      expect((await ask({})).status).toBe(401);
      expect((await ask({ authorization: 'Bearer unscoped' })).status).toBe(403);
      const answer = await ask({ authorization: 'Bearer access' });
      expect([answer.status, await answer.json()]).toEqual([
        501,
        expect.objectContaining({
          error: 'upstream_required',
          error_description: expect.stringMatching(/sets upstream, or upstreams\.\w+,/) as string,
        }),
      ]);
    }
  });

  test('takes nothing that only begins like it', async () => {
    expect((await fetch(`${served.url}${prefix}x`)).status).toBe(404);
  });
});

describe('a row that nothing serves', () => {
  let bare: ServedApp;
  beforeAll(async () => void (bare = await serve()));
  afterAll(() => bare.close());
  const refused = async (path: string, init: RequestInit) => {
    const answer = await fetch(bare.url + path, init);
    return [answer.status, ((await answer.json()) as { error: string }).error];
  };
  const beta = { authorization: 'Bearer access', 'vendor-beta': 'managed-agents-2026-04-01' };

  test('answers 501 after all checks that it implies', async () => {
    const json = { 'content-type': 'application/json' };
    const path = '/v1/environments';
    const whole = JSON.stringify({ machine_name: 'm', directory: '/d' });
    expect(await refused(path, { method: 'POST', headers: json, body: whole })).toEqual([
      401,
      'invalid_token',
    ]);
    expect(
      await refused(path, {
        method: 'POST',
        headers: { ...json, authorization: beta.authorization },
        body: whole,
      }),
    ).toEqual([403, 'beta_not_enabled']);
    expect(await refused(path, { method: 'POST', headers: { ...json, ...beta }, body: '{}' })).toEqual([
      400,
      'invalid_request',
    ]);
    expect(await refused(path, { method: 'POST', headers: { ...json, ...beta }, body: whole })).toEqual([
      501,
      'not_implemented',
    ]);
  });

  test('takes protobuf and forms unread, and refuses what says that it is too big', async () => {
    const { authorization } = beta;
    const protobuf = { authorization, 'content-type': 'application/x-protobuf;v=1' };
    const logs = await fetch(`${bare.url}/v1/logs`, {
      method: 'POST',
      headers: protobuf,
      body: new Uint8Array([1]),
    });
    expect(logs.status).toBe(501);
    const form = new FormData();
    form.set('description', 'd');
    form.set('bundle', new Blob([new Uint8Array(1024)]), 'b.zip');
    const path = '/api/agent_cli_feedback/bundle';
    expect(await refused(path, { method: 'POST', headers: { authorization }, body: form })).toEqual([
      501,
      'not_implemented',
    ]);
    form.set('bundle', new Blob([new Uint8Array(52 * 1024 * 1024)]), 'b.zip');
    expect(await refused(path, { method: 'POST', headers: { authorization }, body: form })).toEqual([
      413,
      'payload_too_large',
    ]);
  });
});

function bodyOf(endpoint: Endpoint): { body?: string } {
  return endpoint.body === undefined ? {} : { body: '{' };
}
