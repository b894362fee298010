import { expect, test } from 'vitest';
import { serve } from '../../test/serve.ts';

const mine = 'https://mine.example';

test('pages of listed origins may call the token endpoint, others may not', async () => {
  await using served = await serve({}, { corsOrigins: [mine] });
  const preflight = (origin: string) =>
    fetch(`${served.url}/v1/oauth/token`, { method: 'OPTIONS', headers: { origin } });
  const allowed = await preflight(mine);
  expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([204, mine]);
  expect(allowed.headers.get('access-control-allow-methods')).toBe('POST');
  expect(allowed.headers.get('access-control-allow-credentials')).toBeNull();
  expect((await preflight('https://other.example')).headers.get('access-control-allow-origin')).toBeNull();
  const refused = await fetch(`${served.url}/v1/oauth/token`, { method: 'POST', headers: { origin: mine } });
  expect([refused.headers.get('access-control-allow-origin'), refused.headers.get('vary')]).toEqual([
    mine,
    'Origin',
  ]);
});

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
