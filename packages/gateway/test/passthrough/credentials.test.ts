import { expect, test } from 'vitest';
import { answer, exchange, rawUpstream } from './raw-upstream.ts';
import { through } from './through.ts';

const local = { 'areas.oauth': 'local', 'areas.devices': 'local' };
const get = (path: string, headers = '') =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`;
const everything =
  'Authorization: Bearer access\r\nCookie: sallyport_session=s; other=1\r\nX-Trusted-Device-Token: t\r\n';
const ok = () => rawUpstream((socket) => socket.write(answer('ok')));

test('where oauth is upstream, credentials go there untouched and are not looked at', async () => {
  await using upstream = await ok();
  await using served = await through(upstream.url);
  await exchange(
    served.port,
    get('/v1/models', 'Authorization: Basic nonsense\r\nx-api-key: k\r\nCookie: a=1\r\n'),
  );
  expect(upstream.heads[0]).toContain('Authorization: Basic nonsense\r\nx-api-key: k\r\nCookie: a=1\r\n');
});

test.each([
  [{ 'upstream.credential': 'sk-team' }, 'authorization: Bearer sk-team'],
  [{ 'upstream.credential': 'sk-team', 'upstream.credentialHeader': 'x-api-key' }, 'x-api-key: sk-team'],
])('where oauth is here, the caller is checked and the credential replaced: %j', async (flags, expected) => {
  await using upstream = await ok();
  await using served = await through(upstream.url, { ...local, ...flags });
  for (const path of ['/v1/models', '/v1/sessions', '/v1/files']) {
    const text = await exchange(served.port, get(path, everything));
    expect(text).toMatch(/^HTTP\/1\.1 200/);
    const head = upstream.heads.at(-1) ?? '';
    expect(head).toContain(`\r\n${expected}\r\n`);
    expect(head).not.toMatch(/access|sallyport_session|trusted-device/i);
    expect(text).not.toContain('sk-team');
  }
});

test.each([
  ['nobody', '', 401, 'invalid_token'],
  ['somebody unknown', 'Authorization: Bearer nobody\r\n', 401, 'invalid_token'],
  ["the upstream's credential", 'Authorization: Bearer sk-team\r\n', 401, 'invalid_token'],
  ['somebody without the scope', 'Authorization: Bearer unscoped\r\n', 403, 'insufficient_scope'],
])(
  'where oauth is here, %s is refused before anything goes upstream',
  async (_name, headers, status, code) => {
    await using upstream = await ok();
    await using served = await through(upstream.url, { ...local, 'upstream.credential': 'sk-team' });
    for (const path of ['/v1/models', '/v1/sessions', '/v1/files/x']) {
      const text = await exchange(served.port, get(path, headers));
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*"error":"${code}"`, 's'));
    }
    expect(upstream.heads).toEqual([]);
  },
);

test('a viewer may not do upstream what it may not do here', async () => {
  await using upstream = await ok();
  await using served = await through(upstream.url, { ...local, 'upstream.credential': 'sk-team' });
  const headers = { authorization: 'Bearer viewer' };
  const created = await fetch(`${served.url}/v1/sessions`, { method: 'POST', headers, body: '{}' });
  expect([created.status, upstream.heads]).toEqual([403, []]);
  expect((await fetch(`${served.url}/v1/sessions`, { method: 'PUT', headers })).status).toBe(405);
  expect((await fetch(`${served.url}/v1/sessions`, { headers })).status).toBe(200);
});

test("a worker's token is the upstream's own, and goes there untouched; one of ours does not", async () => {
  await using upstream = await ok();
  await using served = await through(upstream.url, { ...local, 'upstream.credential': 'sk-team' });
  const register = (token: string) =>
    fetch(`${served.url}/v1/code/sessions/s/worker/register`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
  expect((await register('upstream-jwt')).status).toBe(200);
  expect(upstream.heads[0]).toMatch(/\r\nauthorization: Bearer upstream-jwt\r\n/i);
  expect(upstream.heads[0]).not.toContain('sk-team');
  expect((await register('access')).status).toBe(401);
  expect(upstream.heads).toHaveLength(1);
});

test('an upstream of another origin sees no credentials of callers', async () => {
  await using home = await ok();
  await using other = await ok();
  await using served = await through(home.url, { upstreams: JSON.stringify({ messages: other.url }) });
  await exchange(served.port, get('/v1/messages', everything));
  expect(other.heads[0]).not.toMatch(/authorization|cookie|trusted-device/i);
  await exchange(served.port, get('/v1/models', everything));
  expect(home.heads[0]).toContain('Authorization: Bearer access');
});
