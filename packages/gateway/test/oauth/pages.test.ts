import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { callback, challenge, clientId, codeRequest, deviceGrantType, verifier } from './open-server.ts';
import { openMemoryStore } from './open-store.ts';
import { openOverHttp as open } from './over-http.ts';
import { browser, password, setUp } from './visitor.ts';

const authorizePath = (changes: Record<string, string> = {}) =>
  `/v1/oauth/authorize?${new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: callback,
    state: 'xyz',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...changes,
  }).toString()}`;

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
    const link = await opened.server.accounts.setupLink(opened.owner.accountId);
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
    const { pathname, search } = new URL(await opened.server.accounts.setupLink(opened.owner.accountId));
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
      const { pathname, search } = new URL(await opened.server.accounts.setupLink(opened.owner.accountId));
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

describe('the authorization endpoint for browsers', () => {
  test('sign-in, consent, redirect with code, state and iss; the code gives tokens', async () => {
    await using opened = await open();
    await setUp(opened);
    const visitor = browser(opened.url);
    const start = await visitor.get(authorizePath());
    expect(start.location).toBe(`/login?next=${encodeURIComponent(authorizePath())}`);
    const signIn = await visitor.get(start.location ?? '');
    const { location: back } = await visitor.submit(signIn, { email: 'owner@localhost', password });
    const consent = await visitor.get(back ?? '');
    expect(consent.status).toBe(200);
    expect(consent.headers.get('content-security-policy')).toContain("form-action 'self' http:;");
    expect(consent.text).toContain('Log Sallyport CLI in?');
    const answer = await visitor.submit(consent, { decision: 'approve' });
    expect(answer.status).toBe(303);
    const { origin, pathname, searchParams } = new URL(answer.location ?? '');
    expect([origin + pathname, searchParams.get('state'), searchParams.get('iss')]).toEqual([
      callback,
      'xyz',
      opened.server.issuer,
    ]);
    const tokens = await opened.exchange(searchParams.get('code') ?? '');
    expect(tokens.token_type).toBe('Bearer');
  });

  test('gives the state back byte for byte, a question mark included, through sign-in and consent', async () => {
    await using opened = await open();
    await setUp(opened);
    const visitor = browser(opened.url);
    // As RFC 3986 3.4 lets a query have it: `URLSearchParams` would write it as %3F.
    const start = await visitor.get(authorizePath({ state: 'a?b/c' }).replace('a%3Fb%2Fc', 'a?b/c'));
    const signIn = await visitor.get(start.location ?? '');
    const { location: back } = await visitor.submit(signIn, { email: 'owner@localhost', password });
    const answer = await visitor.submit(await visitor.get(back ?? ''), { decision: 'approve' });
    expect(new URL(answer.location ?? '').searchParams.get('state')).toBe('a?b/c');
  });

  test('is for the organization that the client names, and for no other', async () => {
    await using opened = await open();
    const { server, owner, organizationId: first } = opened;
    const { visitor } = await setUp(opened);
    const second = await server.organizations.add({ name: 'Second' });
    const foreign = await server.organizations.add({ name: 'Foreign' });
    await server.members.setRole(owner.accountId, second.id, 'member');
    const consent = (organization_uuid: string) => visitor.get(authorizePath({ organization_uuid }));
    const offered = ({ text }: { text: string }) =>
      [first, second.id].filter((id) => text.includes(`"${id}"`));

    expect(offered(await visitor.get(authorizePath()))).toEqual([first, second.id]);
    const page = await consent(second.id);
    expect(offered(page)).toEqual([second.id]);
    const other = await visitor.submit(page, { decision: 'approve', organization: first });
    expect([other.status, other.location]).toEqual([403, null]);
    const { location } = await visitor.submit(page, { decision: 'approve' });
    const { access_token: token } = await opened.exchange(
      new URL(location ?? '').searchParams.get('code') ?? '',
    );
    expect((await server.accessTokens.verify(token)).organizationId).toBe(second.id);

    const none = await consent(foreign.id);
    expect(none.text).toContain('not in the organization that the program asks for');
    expect((await visitor.submit(none, { decision: 'approve', organization: foreign.id })).status).toBe(403);
    expect(offered(none)).toEqual([]);
  });

  test('a refusal goes back to the client', async () => {
    await using opened = await open();
    const { visitor } = await setUp(opened);
    const answer = await visitor.submit(await visitor.get(authorizePath()), { decision: 'deny' });
    const { searchParams } = new URL(answer.location ?? '');
    expect([searchParams.get('error'), searchParams.get('state'), searchParams.has('code')]).toEqual([
      'access_denied',
      'xyz',
      false,
    ]);
  });

  test.each([
    ['an unknown client', { client_id: 'nobody' }],
    ['no redirect URI', { redirect_uri: '' }],
    ['a foreign redirect URI', { redirect_uri: 'https://evil.example/cb' }],
    ['a loopback name that is not registered', { redirect_uri: 'http://127.0.0.1.evil.example/callback' }],
  ])('%s is a page, never a redirect', async (_case, changes) => {
    await using opened = await open();
    const answer = await browser(opened.url).get(authorizePath(changes));
    expect([answer.status, answer.location, answer.headers.get('content-type')]).toEqual([
      400,
      null,
      'text/html; charset=utf-8',
    ]);
  });

  test.each([
    'redirect_uri=https://evil.example/',
    `state=b&redirect_uri=${callback}`,
    `state=b&client_id=${clientId}`,
  ])('a repeated client or redirect URI is a page too: %s', async (more) => {
    await using opened = await open();
    const answer = await browser(opened.url).get(`${authorizePath()}&${more}`);
    expect([answer.status, answer.location]).toEqual([400, null]);
  });

  test.each([
    ['no challenge', { code_challenge: '' }, 'invalid_request'],
    ['the method plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['a response type other than code', { response_type: 'token' }, 'unsupported_response_type'],
    ['an unknown scope', { scope: 'root' }, 'invalid_scope'],
  ])('%s goes back to the client before anyone signs in', async (_case, changes, error) => {
    await using opened = await open();
    const answer = await browser(opened.url).get(authorizePath(changes));
    const { origin, pathname, searchParams } = new URL(answer.location ?? '');
    expect([
      origin + pathname,
      searchParams.get('error'),
      searchParams.get('state'),
      searchParams.get('iss'),
    ]).toEqual([callback, error, 'xyz', opened.server.issuer]);
  });

  // RFC 6749 4.1.2.1 on what an error_description is made of.
  test.each([
    ['state=b', 'state is sent twice.'],
    ['x=1&x=2', 'x is sent twice.'],
    ['%C3%BC=1&%C3%BC=2', 'A parameter is sent twice.'],
    ['%22%5C=1&%22%5C=2', 'A parameter is sent twice.'],
    [`${'x'.repeat(99)}=1&${'x'.repeat(99)}=2`, 'A parameter is sent twice.'],
  ])('a repeated parameter goes back to the client in plain words: %s', async (more, description) => {
    await using opened = await open();
    const answer = await browser(opened.url).get(`${authorizePath()}&${more}`);
    const { searchParams } = new URL(answer.location ?? '');
    expect([searchParams.get('error'), searchParams.get('error_description')]).toEqual([
      'invalid_request',
      description,
    ]);
  });

  test('a consent to a request that was changed on its way back is judged anew', async () => {
    await using opened = await open();
    const { visitor } = await setUp(opened);
    const consent = await visitor.get(authorizePath());
    const changed = new URL(
      authorizePath({ redirect_uri: 'https://evil.example/cb' }),
      opened.url,
    ).search.slice(1);
    const answer = await visitor.submit(consent, { decision: 'approve', request: changed });
    expect([answer.status, answer.location]).toEqual([400, null]);
    const elsewhere = await visitor.submit(consent, { decision: 'approve', organization: 'other' });
    expect(elsewhere.status).toBe(403);
  });
});

describe('/device', () => {
  test('shows who asks for what, and logs the device in', async () => {
    await using opened = await open();
    const { visitor } = await setUp(opened);
    const started = await opened.server.deviceFlow.start(
      { client_id: clientId, scope: 'profile' },
      '192.0.2.7',
    );
    const form = await visitor.get('/device');
    expect(form.text).toContain('<form method="get" action="/device">');
    const page = await visitor.get(`/device?user_code=${started.user_code.toLowerCase()}`);
    for (const shown of ['Sallyport CLI', '192.0.2.7', started.user_code, 'Read your profile'])
      expect(page.text).toContain(shown);
    const answer = await visitor.submit(page, { decision: 'approve' });
    expect([answer.status, answer.text.includes('Approved')]).toEqual([200, true]);
    expect((await opened.poll(started.device_code)).scope).toBe('profile');
    const late = await visitor.submit(page, { decision: 'deny' });
    expect([late.status, late.text.includes('is logged in')]).toEqual([409, true]);
    const again = await visitor.get(`/device?user_code=${started.user_code}`);
    expect([
      again.status,
      again.text.includes('is logged in'),
      again.text.includes('Approve</button>'),
    ]).toEqual([200, true, false]);
  });

  test('tells what was decided in the last moment, though the code has expired by then', async () => {
    const store = openMemoryStore();
    let decided = () => {};
    const acts: typeof store.acts = {
      ...store.acts,
      decideDeviceGrant: (act) => store.acts.decideDeviceGrant(act).finally(() => decided()),
    };
    await using opened = await open({}, { store: { ...store, acts } });
    const { visitor } = await setUp(opened);
    const { user_code: code } = await opened.server.deviceFlow.start({ client_id: clientId }, '192.0.2.7');
    const page = await visitor.get(`/device?user_code=${code}`);
    opened.clock.jump(899_999);
    decided = () => opened.clock.jump(1);
    const answer = await visitor.submit(page, { decision: 'approve' });
    expect([answer.status, answer.text.includes('is logged in')]).toEqual([200, true]);
  });

  test('shows that it was denied, before and after', async () => {
    await using opened = await open();
    const { visitor } = await setUp(opened);
    const { user_code: code } = await opened.server.deviceFlow.start({ client_id: clientId }, '192.0.2.7');
    const page = await visitor.get(`/device?user_code=${code}`);
    const answer = await visitor.submit(page, { decision: 'deny' });
    const again = await visitor.get(`/device?user_code=${code}`);
    expect([answer.status, again.status, again.text]).toEqual([200, 200, answer.text]);
    expect(again.text).toContain('was refused: start again');
  });

  test('asks to sign in first, and comes back to the code', async () => {
    await using opened = await open();
    const answer = await browser(opened.url).get('/device?user_code=BBBB-BBBB');
    expect(answer.location).toBe(`/login?next=${encodeURIComponent('/device?user_code=BBBB-BBBB')}`);
  });

  test('a wrong code is asked for again, too many are not', async () => {
    await using opened = await open();
    const { visitor } = await setUp(opened);
    for (let count = 0; count < 5; count += 1) {
      const wrong = await visitor.get('/device?user_code=BBBB-BBBB');
      expect([wrong.status, wrong.text.includes('start again on the device')]).toEqual([404, true]);
    }
    const blocked = await visitor.get('/device?user_code=BBBB-BBBB');
    expect([blocked.status, blocked.headers.get('retry-after')]).toEqual([429, '600']);
  });
});

describe('over HTTP', () => {
  test('session key, code, tokens, refresh, profile, device, bootstrap, revocation', async () => {
    await using opened = await open();
    const { url, organizationId, sessionKey, owner } = opened;
    const json = { 'content-type': 'application/json' };
    const authorized = await fetch(`${url}/v1/oauth/${organizationId}/authorize`, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${sessionKey}` },
      body: JSON.stringify(codeRequest(organizationId, { scope: 'profile vendor_api' })),
    });
    const { redirect_uri: location } = (await authorized.json()) as { redirect_uri: string };
    const post = (path: string, body: string | URLSearchParams, headers: Record<string, string> = {}) =>
      fetch(url + path, { method: 'POST', body, headers });
    const exchanged = await post(
      '/v1/oauth/token',
      new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: clientId,
        code: new URL(location).searchParams.get('code') ?? '',
        code_verifier: verifier,
        redirect_uri: callback,
      }),
    );
    expect([
      exchanged.status,
      exchanged.headers.get('cache-control'),
      exchanged.headers.get('pragma'),
    ]).toEqual([200, 'no-store', 'no-cache']);
    const tokens = (await exchanged.json()) as { access_token: string; refresh_token: string };
    const refreshed = await post(
      '/v1/oauth/token',
      JSON.stringify({
        grant_type: 'refresh_token',
        client_id: clientId,
        refresh_token: tokens.refresh_token,
      }),
      json,
    );
    expect(refreshed.status).toBe(200);
    const bearer = { authorization: `Bearer ${tokens.access_token}` };
    const profile = await fetch(`${url}/api/oauth/profile`, { headers: bearer });
    expect(await profile.json()).toEqual({
      organization: {
        organization_type: 'agent_team',
        rate_limit_tier: 'default',
        uuid: organizationId,
        name: 'Default',
      },
      account: { uuid: owner.accountId, email: 'owner@localhost', role: 'admin' },
    });
    const trusted = await post('/api/auth/trusted_devices', '{"display_name":" my laptop "}', {
      ...json,
      ...bearer,
    });
    const deviceToken = await trusted.text();
    expect(deviceToken).toMatch(/^spt_[\w-]{43}$/);
    const mine = { accountId: owner.accountId, organizationId };
    expect(await opened.server.trustedDevices.check(deviceToken, mine)).toMatchObject({
      deviceId: expect.any(String) as string,
    });
    const bootstrap = async (headers: Record<string, string>) =>
      await (await fetch(`${url}/api/bootstrap`, { headers })).json();
    const known = {
      account: {
        uuid: owner.accountId,
        memberships: [
          {
            organization: {
              uuid: organizationId,
              capabilities: ['agent_code'],
              name: expect.any(String) as string,
            },
          },
        ],
      },
    };
    expect(await bootstrap(bearer)).toEqual(known);
    expect(await bootstrap({ authorization: `Bearer ${sessionKey}` })).toEqual(known);
    expect(await bootstrap({})).toEqual({
      account: { uuid: '00000000-0000-0000-0000-000000000000', memberships: [] },
    });
    const revoked = await post(
      '/v1/oauth/revoke',
      JSON.stringify({ client_id: clientId, token: tokens.access_token }),
      json,
    );
    expect([revoked.status, await revoked.text()]).toEqual([200, '']);
    const refused = await fetch(`${url}/api/oauth/profile`, { headers: bearer });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"');
  });

  test('refuses repeated form fields, other values than text, and an unknown client with a plain 401', async () => {
    await using opened = await open();
    const post = async (body: string, type: string) => {
      const answer = await fetch(`${opened.url}/v1/oauth/token`, {
        method: 'POST',
        body,
        headers: { 'content-type': type },
      });
      const { error } = (await answer.json()) as { error: string };
      return [answer.status, error, answer.headers.get('www-authenticate')];
    };
    const form = 'application/x-www-form-urlencoded';
    const grant = `grant_type=${encodeURIComponent(deviceGrantType)}&device_code=x`;
    expect(await post(`${grant}&client_id=a&client_id=b`, form)).toEqual([400, 'invalid_request', null]);
    expect(await post(`${grant}&client_id=${clientId}&x=1&x=2`, form)).toEqual([
      400,
      'invalid_request',
      null,
    ]);
    expect(await post('{"grant_type":5}', 'application/json')).toEqual([400, 'invalid_request', null]);
    expect(await post('[]', 'application/json')).toEqual([400, 'invalid_request', null]);
    expect(await post(`${grant}&client_id=nobody`, form)).toEqual([401, 'invalid_client', null]);
    expect(await post('{}', 'text/plain')).toEqual([400, 'invalid_request', null]);
  });

  test('discovery and keys may be cached, and are not sent twice', async () => {
    await using opened = await open();
    const { document } = opened.server.metadata;
    const documents = {
      '/.well-known/oauth-authorization-server': document,
      '/.well-known/openid-configuration': document,
      '/.well-known/jwks.json': await opened.server.signer.jwks(),
    };
    for (const [path, body] of Object.entries(documents)) {
      const first = await fetch(opened.url + path);
      expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
      expect(await first.json()).toEqual(body);
      const etag = first.headers.get('etag') ?? '';
      const again = await fetch(opened.url + path, { headers: { 'if-none-match': `W/${etag}` } });
      expect([again.status, await again.text()]).toEqual([304, '']);
    }
    const keys = await fetch(`${opened.url}/.well-known/jwks.json`);
    const { keys: published } = (await keys.json()) as { keys: Record<string, unknown>[] };
    expect(published.map((key) => Object.keys(key).sort())).toEqual([
      ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
    ]);
  });
});
