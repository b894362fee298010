import { neutralDialect } from '@sallyport/core';
import { describe, expect, test } from 'vitest';
import { serve } from '../../test/serve.ts';
import type { PartialHandlers } from './pipeline.ts';

const bearer = { authorization: 'Bearer access' };
const json = { ...bearer, 'content-type': 'application/json' };

describe('what a handler gives back', () => {
  test('null is the JSON null, undefined is no body', async () => {
    const handlers: PartialHandlers = {
      bridge: { poll: async () => null },
      oauth: { revoke: async () => undefined },
    };
    await using served = await serve({ handlers });
    const poll = await fetch(`${served.url}/v1/environments/e/work/poll`, { headers: bearer });
    expect([poll.status, poll.headers.get('content-type'), await poll.text()]).toEqual([
      200,
      'application/json; charset=utf-8',
      'null',
    ]);
    const revoke = await fetch(`${served.url}/v1/oauth/revoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect([revoke.status, revoke.headers.get('content-type'), await revoke.text()]).toEqual([200, null, '']);
    expect(revoke.headers.get('pragma')).toBe('no-cache');
  });

  test('text is text, a page is HTML, and a status of its own stands', async () => {
    const handlers: PartialHandlers = {
      devices: { trust: async () => 'token' },
      oauth: {
        async authorizePage({ request, reply }) {
          if (!request.url.includes('go')) return '<p>consent</p>';
          reply.code(302).header('location', '/there');
          return undefined;
        },
      },
    };
    await using served = await serve({ handlers });
    const token = await fetch(`${served.url}/api/auth/trusted_devices`, {
      method: 'POST',
      headers: json,
      body: '{"display_name":"mine"}',
    });
    expect([token.headers.get('content-type'), await token.text()]).toEqual([
      'text/plain; charset=utf-8',
      'token',
    ]);
    const page = await fetch(`${served.url}/v1/oauth/authorize`);
    expect([page.headers.get('content-type'), await page.text()]).toEqual([
      'text/html; charset=utf-8',
      '<p>consent</p>',
    ]);
    const away = await fetch(`${served.url}/v1/oauth/authorize?go`, { redirect: 'manual' });
    expect([away.status, away.headers.get('location')]).toEqual([302, '/there']);
  });

  test('caches are kept away unless the handler lets them in', async () => {
    const handlers: PartialHandlers = {
      account: { bootstrap: async () => ({ account: { uuid: 'u', memberships: [] } }) },
      oauth: {
        async jwks({ reply }) {
          reply.header('cache-control', 'public, max-age=300');
          return { keys: [] };
        },
      },
    };
    await using served = await serve({ handlers });
    const bootstrap = await fetch(`${served.url}/api/bootstrap`);
    expect(bootstrap.headers.get('cache-control')).toBe('no-store');
    const jwks = await fetch(`${served.url}/.well-known/jwks.json`);
    expect(jwks.headers.get('cache-control')).toBe('public, max-age=300');
    expect(jwks.headers.get('access-control-allow-origin')).toBe('*');
  });

  test('a crash is 500 and tells nothing; a row without a handler is 501', async () => {
    const handlers: PartialHandlers = {
      sessions: { list: () => Promise.reject(new Error('secret detail')) },
    };
    await using served = await serve({ handlers });
    const crashed = await fetch(`${served.url}/v1/sessions`, { headers: bearer });
    const text = await crashed.text();
    expect(crashed.status).toBe(500);
    expect(JSON.parse(text)).toMatchObject({
      error: 'internal_error',
      request_id: crashed.headers.get('request-id'),
    });
    expect(text).not.toContain('secret');
    const missing = await fetch(`${served.url}/v1/sessions/s`, { headers: bearer });
    expect([missing.status, ((await missing.json()) as { error: string }).error]).toEqual([
      501,
      'not_implemented',
    ]);
  });
});

describe('validation', () => {
  test('names every bad field at once, by slash-joined path, without its value', async () => {
    await using served = await serve({
      handlers: { sessions: { create: () => Promise.reject(new Error()) } },
    });
    const answer = await fetch(`${served.url}/v1/sessions`, {
      method: 'POST',
      headers: { ...json, 'vendor-beta': 'ccr-byoc-2025-07-29', 'vendor-client-feature': 'ccr' },
      body: JSON.stringify({ title: 5, events: [{ type: 't' }, { type: '', data: 'hunter2' }] }),
    });
    const body = (await answer.json()) as { issues: { path: string; message: string }[] };
    expect(answer.status).toBe(400);
    expect(body.issues.map(({ path }) => path).sort()).toEqual([
      'environment_id',
      'events/1/data',
      'events/1/type',
      'headers/x-environment-runner-version',
      'headers/x-organization-uuid',
      'title',
    ]);
    expect(body.issues.find(({ path }) => path === 'environment_id')?.message).toBe('is required');
    expect(JSON.stringify(body)).not.toContain('hunter2');
  });

  test('drops __proto__ members however they are written', async () => {
    let got: unknown;
    const handlers: PartialHandlers = {
      bridge: {
        ack: async ({ body }) => {
          got = body;
          return { id: 'work_1', state: 'active' as const };
        },
      },
    };
    await using served = await serve({ handlers });
    await fetch(`${served.url}/v1/environments/e/work/w/ack`, {
      method: 'POST',
      headers: json,
      body: '{"a":1,"__proto__":{"admin":true},"b":{"\\u005f_proto__":{"admin":true}}}',
    });
    expect(got).toEqual({ a: 1, b: {} });
    expect((got as { admin?: unknown }).admin).toBeUndefined();
  });

  test('refuses a body of next to nothing that would be millions of values', async () => {
    await using served = await serve({
      handlers: { telemetry: { batch: () => Promise.reject(new Error()) } },
    });
    const { gzipSync } = await import('node:zlib');
    const answer = await fetch(`${served.url}/api/event_logging/v2/batch`, {
      method: 'POST',
      headers: { ...json, 'x-service-name': 'agent_desktop', 'content-encoding': 'gzip' },
      body: gzipSync(`{"events":[{"a":[${'{},'.repeat(2 ** 19)}{}]}]}`),
    });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ error: 'payload_too_large' });
  });

  test('takes gzip and deflate, and refuses what is not what it says', async () => {
    let got: unknown;
    const handlers: PartialHandlers = {
      telemetry: {
        batch: async ({ body }) => {
          got = body;
          return { accepted: 0 };
        },
      },
    };
    await using served = await serve({ handlers });
    const { gzipSync, deflateSync } = await import('node:zlib');
    const post = async (encoding: string, body: Uint8Array<ArrayBuffer>) =>
      fetch(`${served.url}/api/event_logging/v2/batch`, {
        method: 'POST',
        headers: { ...json, 'x-service-name': 'agent_desktop', 'content-encoding': encoding },
        body,
      });
    const events = Buffer.from('{"events":[]}');
    expect((await post('gzip', gzipSync(events))).status).toBe(200);
    expect((await post('deflate', deflateSync(events))).status).toBe(200);
    expect(got).toEqual({ events: [] });
    expect((await post('gzip', events)).status).toBe(400);
    expect((await post('gzip', gzipSync(events).subarray(0, 20))).status).toBe(400);
    expect((await post('br', events)).status).toBe(415);
  });
});

describe('who calls', () => {
  test('optional: an invalid credential counts as none, a failing store does not', async () => {
    const handlers: PartialHandlers = {
      account: {
        bootstrap: async ({ caller }) => ({
          account: { uuid: caller?.accountId ?? 'nobody', memberships: [] },
        }),
      },
    };
    await using served = await serve({ handlers });
    const uuid = async (headers: Record<string, string>) => {
      const answer = await fetch(`${served.url}/api/bootstrap`, { headers });
      return answer.ok
        ? ((await answer.json()) as { account: { uuid: string } }).account.uuid
        : answer.status;
    };
    expect(await uuid({})).toBe('nobody');
    expect(await uuid({ authorization: 'Bearer wrong' })).toBe('nobody');
    expect(await uuid({ authorization: 'nonsense' })).toBe('nobody');
    expect(await uuid({ authorization: 'Bearer access' })).toBe('account');
    expect(await uuid({ authorization: 'Bearer session' })).toBe('account');
    expect(await uuid({ 'x-api-key': 'access' })).toBe('account');
    expect(await uuid({ authorization: 'Bearer broken' })).toBe(503);
  });

  test('a dialect renames paths, headers and scopes', async () => {
    const dialect = { ...neutralDialect, vendor: 'acme' };
    const handlers: PartialHandlers = {
      bridge: { register: async ({ headers }) => ({ environment_id: headers['vendor-worker-id'] }) },
    };
    await using served = await serve({ handlers }, { dialect });
    const register = async (headers: Record<string, string>) => {
      const answer = await fetch(`${served.url}/v1/environments/bridge`, {
        method: 'POST',
        headers: { ...json, 'x-environment-runner-version': '1', 'x-trusted-device-token': 't', ...headers },
        body: '{"machine_name":"m","directory":"/d"}',
      });
      return { challenge: answer.headers.get('www-authenticate'), body: await answer.json() };
    };
    expect((await register({ 'acme-worker-id': 'w1' })).body).toEqual({ environment_id: 'w1' });
    expect((await register({ 'vendor-worker-id': 'w1' })).body).toMatchObject({
      issues: [{ path: 'headers/acme-worker-id', message: 'is required' }],
    });
    const unscoped = await register({ authorization: 'Bearer unscoped' });
    expect(unscoped.challenge).toContain('scope="acme_api"');
  });
});
