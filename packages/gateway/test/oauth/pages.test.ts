import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { clientId } from './open-server.ts';
import { openOverHttp as open } from './over-http.ts';
import { authorizePath, browser, password, setUp } from './visitor.ts';

describe('every page', () => {
  test('lets nothing in, is kept nowhere and framed nowhere', async () => {
    await using opened = await open();
    const { headers, text } = await browser(opened.url).get('/login');
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    // As a browser judges: the hash is of the bytes between the tags.
    const [, served = ''] = /<style>(.*?)<\/style>/s.exec(text) ?? [];
    const hash = createHash('sha256').update(served).digest('base64');
    expect(headers.get('content-security-policy')).toContain(`style-src 'sha256-${hash}'`);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(text).not.toMatch(/<script|javascript:|style="/);
    for (const [, id] of text.matchAll(/<label for="([^"]+)"/g)) expect(text).toContain(`id="${id ?? ''}"`);
  });

  test('of a login keeps the window that opened it, in which an app waits; every other one has none', async () => {
    await using opened = await open();
    const { visitor } = await setUp(opened);
    const stranger = browser(opened.url);
    const policyOf = ({ headers }: { headers: Headers }) => headers.get('cross-origin-opener-policy');
    const signIn = await stranger.get('/login');
    const ofLogin = [
      await stranger.get(authorizePath()),
      signIn,
      await stranger.submit(signIn, { email: 'owner@localhost', password: 'wrong' }),
      await stranger.submit(signIn, { proof: '' }),
      await visitor.get(authorizePath()),
      await visitor.get(authorizePath({ client_id: 'nobody' })),
      await visitor.submit(await visitor.get(authorizePath()), { decision: 'perhaps' }),
    ];
    expect(ofLogin.map(({ status }) => status)).toEqual([303, 200, 401, 403, 200, 400, 400]);
    // A redirect has none, which is the same.
    expect(new Set(ofLogin.map(policyOf))).toEqual(new Set([null, 'unsafe-none']));
    for (const path of ['/account', '/account/password', '/device', '/setup', '/nothing'])
      expect(policyOf(await visitor.get(path)), path).toBe('same-origin');
  });

  test('over https has cookies that no other host can set, and none that travels in the clear', async () => {
    await using opened = await open({}, { issuer: 'https://gate.example' });
    const { visitor, page, answer } = await setUp(opened);
    const set = [...page.headers.getSetCookie(), ...answer.headers.getSetCookie()];
    expect(set).toHaveLength(3);
    for (const cookie of set)
      expect(cookie).toMatch(
        /^__Host-sallyport_(form|session)=[\w-]*;( Max-Age=\d+;)? Path=\/; HttpOnly; SameSite=Lax; Secure$/,
      );
    expect((await visitor.get('/account')).status).toBe(200);
    // Planted by another host, over http: it is not looked at.
    expect(visitor.jar.delete('__Host-sallyport_session')).toBe(true);
    visitor.jar.set('sallyport_session', opened.sessionKey);
    expect((await visitor.get('/account')).status).toBe(303);
  });

  test('two gateways on one host sign nobody out of the other: browsers keep no port with a cookie', async () => {
    await using one = await open({}, { issuer: 'http://127.0.0.1:4000' });
    await using other = await open({}, { issuer: 'http://127.0.0.1:4001' });
    const here = [...(await setUp(one)).visitor.jar.keys()];
    const there = [...(await setUp(other)).visitor.jar.keys()];
    expect([here, there]).toEqual([['sallyport_session_4000'], ['sallyport_session_4001']]);
  });

  test('a form of another site, of another visitor, or without its proof is refused', async () => {
    await using opened = await open();
    const visitor = browser(opened.url);
    const page = await visitor.get('/login');
    const fields = { email: 'owner@localhost', password };
    expect((await visitor.submit(page, fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await visitor.submit(page, fields, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await visitor.submit(page, fields, { origin: 'null' })).status).toBe(403);
    expect((await visitor.submit(page, { ...fields, proof: '' })).status).toBe(403);
    const other = browser(opened.url);
    await other.get('/login');
    expect((await other.submit(page, fields)).status).toBe(403);
    expect((await visitor.submit(page, fields, { 'sec-fetch-site': 'same-origin' })).status).toBe(401);
  });

  test('a form that another window has made void leads back to where it was, and loses nothing', async () => {
    await using opened = await open();
    const { visitor } = await setUp(opened);
    const started = await opened.server.deviceFlow.start({ client_id: clientId }, '192.0.2.7');
    const link = (await opened.server.accounts.setupLink(opened.owner.accountId)).url;
    const { pathname, search } = new URL(link);
    const path = authorizePath({ state: 'a?b&c' });
    const places = {
      [path]: path,
      [`/device?user_code=${started.user_code}`]: `/device?user_code=${started.user_code}`,
      '/account': '/account',
      '/account/password': '/account/password',
    };
    const forms = await Promise.all(Object.keys(places).map((place) => visitor.get(place)));
    await visitor.submit(forms[2] ?? { text: '' }, {});
    const signIn = await visitor.get('/login?next=/device');
    const setup = await visitor.get(pathname + search);
    await visitor.submit(signIn, { email: 'owner@localhost', password });
    const voided = [...forms, signIn, setup];
    const backTo = [...Object.values(places), '/login?next=%2Fdevice', pathname + search];
    for (const [index, form] of voided.entries()) {
      const refused = await visitor.submit(form, { decision: 'approve' });
      const [, back] = /<a href="([^"]+)">Open the form again/.exec(refused.text) ?? [];
      expect([refused.status, back?.replaceAll('&amp;', '&')]).toEqual([403, backTo[index]]);
      expect((await visitor.get(backTo[index] ?? '')).status).toBeLessThan(400);
    }
  });

  test('a body that is no form is an error page', async () => {
    await using opened = await open();
    const answer = await fetch(`${opened.url}/login`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([415, 'text/html; charset=utf-8']);
  });
});

describe('where no page is', () => {
  test('a browser gets one that says so, and other programs the one shape of errors', async () => {
    await using opened = await open();
    const visitor = browser(opened.url);
    const page = await visitor.get('/nothing');
    expect([page.status, page.text.includes('There is nothing at this path.')]).toEqual([404, true]);
    expect(page.text).toContain('<a href="/account">');
    const login = await visitor.get('/login');
    for (const name of ['content-security-policy', 'x-frame-options', 'cache-control', 'content-type'])
      expect(page.headers.get(name)).toBe(login.headers.get(name));
    for (const accept of ['*/*', 'application/json']) {
      const answer = await fetch(`${opened.url}/nothing`, { headers: { accept } });
      expect([answer.status, await answer.json()]).toMatchObject([404, { error: 'not_found' }]);
    }
    const posted = await fetch(`${opened.url}/nothing`, { method: 'POST', headers: { accept: 'text/html' } });
    expect(await posted.json()).toMatchObject({ error: 'not_found' });
    const left = await visitor.get('/logout');
    expect([left.status, left.headers.get('allow'), left.text.includes('<h1>')]).toEqual([405, 'POST', true]);
  });

  test('an endpoint answers a browser as it does others', async () => {
    await using opened = await open();
    const refused = await browser(opened.url).get('/api/oauth/profile');
    expect(JSON.parse(refused.text)).toMatchObject({ error: 'invalid_token' });
  });

  test('the front door leads to the sign-in; there is no icon', async () => {
    await using opened = await open();
    const visitor = browser(opened.url);
    const front = await visitor.get('/');
    expect([front.status, front.location, front.text]).toEqual([303, '/login', '']);
    expect((await fetch(opened.url)).status).toBe(404);
    expect((await visitor.get('/favicon.ico')).status).toBe(204);
  });
});

describe('/setup', () => {
  test('sets the password once, and signs in with a cookie that scripts cannot read', async () => {
    await using opened = await open();
    const { visitor, link, answer } = await setUp(opened);
    expect([answer.status, answer.location]).toEqual([303, '/account']);
    const cookie = answer.headers.getSetCookie().find((set) => set.startsWith('sallyport_session_8787='));
    expect(cookie).toMatch(
      /^sallyport_session_8787=sps_[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect((await visitor.get('/account')).text).toContain('<strong>owner@localhost</strong>');
    const again = await browser(opened.url).get(link);
    expect([again.status, again.text.includes('This link was used')]).toEqual([404, true]);
    expect(again.text).toContain('<a href="/login">sign in</a>');
    expect(await opened.server.sessions.authenticate(opened.sessionKey).catch(() => 'ended')).toBe('ended');
  });

  test('asks again for a short password, or two that differ, and keeps the link', async () => {
    await using opened = await open();
    const visitor = browser(opened.url);
    const { pathname, search } = new URL(
      (await opened.server.accounts.setupLink(opened.owner.accountId)).url,
    );
    const page = await visitor.get(pathname + search);
    const short = await visitor.submit(page, { password: 'short', repeated: 'short' });
    expect([short.status, short.text.includes('at least 10 characters')]).toEqual([400, true]);
    const differ = await visitor.submit(short, { password, repeated: 'another password' });
    expect(differ.text).toContain('not the same');
    expect((await visitor.submit(differ, { password, repeated: password })).status).toBe(303);
  });

  test('a newer link ends the older one, and all end after a day', async () => {
    await using opened = await open();
    const path = async () => {
      const { pathname, search } = new URL(
        (await opened.server.accounts.setupLink(opened.owner.accountId)).url,
      );
      return pathname + search;
    };
    const [first, second] = [await path(), await path()];
    expect((await browser(opened.url).get(first)).status).toBe(404);
    expect((await browser(opened.url).get(second)).status).toBe(200);
    opened.clock.jump(24 * 3600_000);
    expect((await browser(opened.url).get(second)).status).toBe(404);
  });
});

describe('/login', () => {
  test('signs in, goes on to a local path, and signs out', async () => {
    await using opened = await open();
    await setUp(opened);
    const visitor = browser(opened.url);
    const page = await visitor.get('/login?next=/device');
    const answer = await visitor.submit(page, { email: ' Owner@LOCALHOST ', password });
    expect([answer.status, answer.location]).toEqual([303, '/device']);
    const key = visitor.jar.get('sallyport_session_8787') ?? '';
    const left = await visitor.submit(await visitor.get('/account'), {});
    expect(left.location).toBe('/login?notice=signed-out');
    expect((await visitor.get(left.location ?? '')).text).toContain('You are signed out.');
    expect(visitor.jar.has('sallyport_session_8787')).toBe(false);
    await expect(opened.server.sessions.authenticate(key)).rejects.toMatchObject({ code: 'invalid_token' });
  });

  test.each([
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/..//evil.example',
    '/\t/evil.example',
  ])('does not go on to %j', async (next) => {
    await using opened = await open();
    const { visitor } = await setUp(opened);
    const answer = await visitor.get(`/login?next=${encodeURIComponent(next)}`);
    expect(answer.location).toBe('/account');
  });

  test('says the same of a wrong password and a wrong address, and after ten tries to wait', async () => {
    await using opened = await open();
    await setUp(opened);
    const visitor = browser(opened.url);
    const page = await visitor.get('/login');
    const wrong = await visitor.submit(page, { email: 'owner@localhost', password: 'wrong' });
    const unknown = await visitor.submit(page, { email: 'nobody@localhost', password: 'wrong' });
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(unknown.text.replace('nobody@', 'owner@')).toBe(wrong.text);
    const more = await Promise.all(
      Array.from({ length: 9 }, () => visitor.submit(page, { email: 'owner@localhost', password: 'wrong' })),
    );
    expect(more.map(({ status }) => status)).toEqual(Array(9).fill(401));
    const blocked = await visitor.submit(page, { email: 'owner@localhost', password });
    expect([blocked.status, blocked.headers.get('retry-after')]).toEqual([429, '600']);
    await opened.clock.advance(600_000);
    expect((await visitor.submit(page, { email: 'owner@localhost', password })).status).toBe(303);
  });

  test('escapes what it is sent', async () => {
    await using opened = await open();
    const visitor = browser(opened.url);
    const page = await visitor.get('/login');
    const answer = await visitor.submit(page, { email: '"><script>alert(1)</script>', password: 'x' });
    expect(answer.text).not.toContain('<script>');
    expect(answer.text).toContain('&quot;&gt;&lt;script&gt;');
  });
});
