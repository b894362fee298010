import { expect, test } from 'vitest';
import { serve } from '../../test/serve.ts';

const mine = 'https://mine.example';

test('pages of listed origins may call the token, device and revocation endpoints, others may not', async () => {
  await using served = await serve({}, { corsOrigins: [mine] });
  for (const path of ['/v1/oauth/token', '/v1/oauth/device_authorization', '/v1/oauth/revoke']) {
    const call = async (method: string, origin: string) => {
      const { status, headers } = await fetch(served.url + path, { method, headers: { origin } });
      return { status, vary: headers.get('vary'), cors: corsOf(headers) };
    };
    const origin = { 'allow-origin': mine, 'expose-headers': 'Retry-After, WWW-Authenticate' };
    const asked = {
      'allow-methods': 'POST',
      'allow-headers': 'content-type,authorization,dpop',
      'max-age': '3600',
    };
    expect(await call('OPTIONS', mine)).toEqual({
      status: 204,
      vary: 'Origin',
      cors: { ...origin, ...asked },
    });
    expect(await call('POST', mine)).toEqual({ status: 400, vary: 'Origin', cors: origin });
    for (const other of ['https://other.example', 'null', `${mine}.evil.example`])
      expect(await call('OPTIONS', other)).toEqual({ status: 204, vary: 'Origin', cors: {} });
  }
  // RFC 9700 2.6: a browser goes there itself.
  const page = await fetch(`${served.url}/v1/oauth/authorize`, { headers: { origin: mine } });
  expect(corsOf(page.headers)).toEqual({});
});

function corsOf(headers: Headers): Record<string, string> {
  const prefix = 'access-control-';
  return Object.fromEntries(
    [...headers]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, value]) => [name.slice(prefix.length), value]),
  );
}

test('without a list there is no preflight; what is public is open to all', async () => {
  await using served = await serve();
  const preflight = await fetch(`${served.url}/v1/oauth/token`, {
    method: 'OPTIONS',
    headers: { origin: mine },
  });
  expect([preflight.status, preflight.headers.get('allow')]).toEqual([405, 'POST']);
  const metadata = await fetch(`${served.url}/.well-known/oauth-authorization-server`);
  expect(metadata.headers.get('access-control-allow-origin')).toBe('*');
  const sessions = await fetch(`${served.url}/v1/sessions`, { headers: { origin: mine } });
  expect(sessions.headers.get('access-control-allow-origin')).toBeNull();
});
