import { describe, expect, test } from 'vitest';
import { clientId } from './open-server.ts';
import { openOverHttp } from './over-http.ts';
import { browser, password, setUp } from './visitor.ts';

/** A signed-in owner with one of each thing that the page lists. */
async function open() {
  const opened = await openOverHttp();
  const { server, organizationId } = opened;
  const { visitor } = await setUp(opened);
  const accountId = opened.owner.accountId;
  const mine = { accountId, organizationId };
  // The password that was set has ended the session that codes were given by.
  const owner = await server.sessions.issue(accountId);
  const device = await server.deviceFlow.start({ client_id: clientId }, '198.51.100.9');
  await server.deviceFlow.decide(device.user_code, owner, '127.0.0.1', { approve: true, organizationId });
  const tokens = await opened.poll(device.device_code);
  const deviceToken = await server.trustedDevices.trust(mine, 'workshop <1>');
  const key = await server.apiKeys.create(
    { ...mine, scopes: ['vendor_api'], isApiKey: false },
    { name: 'nightly' },
  );
  const press = async (name: string, value: string, from = visitor) => {
    const page = await from.get('/account');
    const proof = /name="proof" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    return from.send('/account', { proof, [name]: value });
  };
  return { ...opened, visitor, mine, owner, tokens, deviceToken, key, press };
}

/** The buttons of a page that end something. */
function buttons(text: string): [name: string, value: string, label: string][] {
  return [
    ...text.matchAll(/<button\s+class="small"\s+name="(\w+)"\s+value="([^"]+)"\s+aria-label="([^"]+)"/g),
  ].map(([, name = '', value = '', label = '']) => [name, value, label]);
}

describe('/account', () => {
  test('needs a sign-in, and comes back after it', async () => {
    await using opened = await open();
    const stranger = browser(opened.url);
    for (const path of ['/account', '/account/password']) {
      const page = await stranger.get(path);
      expect([page.status, page.location]).toEqual([303, `/login?next=${encodeURIComponent(path)}`]);
    }
  });

  test('lists sessions, this one marked, and logins, devices and keys by organization', async () => {
    await using opened = await open();
    const { visitor, server, mine, organizationId, tokens, key } = opened;
    const { text, headers } = await visitor.get('/account');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const [login] = await server.logins.list(mine);
    const [device] = await server.trustedDevices.list(mine);
    const [apiKey] = await server.apiKeys.list(mine);
    expect(buttons(text)).toEqual([
      ['session', opened.owner.sessionId, expect.stringMatching(/^Sign out: Session key of/)],
      [
        'login',
        `${organizationId}/${login?.id ?? ''}`,
        expect.stringMatching(/^Log out: Sallyport CLI, since/),
      ],
      [
        'device',
        `${organizationId}/${device?.id ?? ''}`,
        expect.stringMatching(/^Revoke: workshop &lt;1&gt;,/),
      ],
      ['key', `${organizationId}/${apiKey?.id ?? ''}`, expect.stringMatching(/^Revoke: nightly, since/)],
    ]);
    expect(text.match(/This one/g)).toHaveLength(1);
    expect(text).toContain('from 198.51.100.9');
    expect(text).not.toContain('workshop <1>');
    for (const secret of [
      visitor.jar.get('sallyport_session_8787'),
      tokens.refresh_token,
      opened.deviceToken,
      key,
    ])
      expect(text).not.toContain(secret);
  });

  test.each<[string, string, string, (opened: Awaited<ReturnType<typeof open>>) => Promise<unknown>]>([
    [
      'session',
      'session-ended',
      'invalid_token',
      ({ server, owner }) => server.sessions.authenticate(owner.sessionKey),
    ],
    [
      'login',
      'login-revoked',
      'invalid_token',
      ({ server, tokens }) => server.accessTokens.verify(tokens.access_token),
    ],
    [
      'device',
      'device-revoked',
      'device_revoked',
      ({ server, deviceToken, mine }) => server.trustedDevices.check(deviceToken, mine),
    ],
    ['key', 'key-revoked', 'invalid_token', ({ server, key }) => server.apiKeys.verify(key)],
  ])('a button ends a %s, and a second press of it is no error', async (kind, notice, code, use) => {
    await using opened = await open();
    const { visitor, press } = opened;
    await use(opened);
    const before = buttons((await visitor.get('/account')).text);
    const [name, value] = before.find(([one]) => one === kind)!;
    for (const _window of [1, 2]) {
      const answer = await press(name, value);
      expect([answer.status, answer.location]).toEqual([303, `/account?notice=${notice}`]);
    }
    await expect(use(opened)).rejects.toMatchObject({ code });
    const after = await visitor.get(`/account?notice=${notice}`);
    expect(after.text).toContain('role="status"');
    expect(buttons(after.text)).toEqual(before.filter(([one]) => one !== kind));
  });

  test('all other sessions end at once', async () => {
    await using opened = await open();
    const { visitor, press, server, owner } = opened;
    await press('others', 'all');
    const { text } = await visitor.get('/account');
    expect([buttons(text).filter(([name]) => name === 'session'), text.includes('everywhere else')]).toEqual([
      [],
      false,
    ]);
    await expect(server.sessions.authenticate(owner.sessionKey)).rejects.toMatchObject({
      code: 'invalid_token',
    });
  });

  test('nobody ends what is of another account, and nothing ends without the form', async () => {
    await using opened = await open();
    const { visitor, press, server, mine, owner } = opened;
    const mallory = browser(opened.url);
    await server.accounts.add({ email: 'mallory@example.com', password, role: 'admin' });
    await mallory.submit(await mallory.get('/login'), { email: 'mallory@example.com', password });
    const targets = buttons((await visitor.get('/account')).text);
    expect(targets).toHaveLength(4);
    for (const [name, value] of targets) {
      expect((await press(name, value, mallory)).status).toBe(303);
      expect((await visitor.send('/account', { [name]: value })).status).toBe(403);
      await visitor.get(`/account?${name}=${value}`);
    }
    expect(buttons((await visitor.get('/account')).text)).toEqual(targets);
    await server.sessions.authenticate(owner.sessionKey);
    expect(await server.logins.list(mine)).toHaveLength(1);
  });

  test('a form that names nothing is refused; a notice is one of ours', async () => {
    await using opened = await open();
    expect((await opened.press('everything', '1')).status).toBe(400);
    for (const name of ['<b>', 'constructor', 'toString']) {
      const { text } = await opened.visitor.get(`/account?notice=${encodeURIComponent(name)}`);
      expect(text).not.toContain('role="status"');
    }
  });

  test('shows at most a hundred of each, and organizations ten at a time', async () => {
    await using opened = await open();
    const { server, mine, visitor } = opened;
    for (let index = 0; index < 101; index += 1) await server.trustedDevices.trust(mine, `device ${index}`);
    for (let index = 2; index <= 11; index += 1) {
      await opened.clock.advance(1);
      const { id } = await server.organizations.add({ name: `Team ${index}` });
      await server.members.setRole(mine.accountId, id, 'viewer');
    }
    const first = await visitor.get('/account');
    expect(buttons(first.text).filter(([name]) => name === 'device')).toHaveLength(100);
    expect(first.text).toContain('Only the newest 100 are shown.');
    const names = (text: string) =>
      [...text.matchAll(/<h2 id="organization-[^"]+">([^<]+)</g)].map(([, name]) => name);
    expect(names(first.text)).toHaveLength(10);
    expect(names((await visitor.get('/account?page=2')).text)).toEqual(['Team 11']);
    for (const page of ['0', '-1', '1e9', 'x', 'NaN', '1.5'])
      expect((await visitor.get(`/account?page=${page}`)).status).toBe(200);
  });

  test('shows an account of no organization what is left', async () => {
    await using opened = await open();
    const { server, mine, visitor } = opened;
    const { id } = await server.accounts.add({ email: 'ann@example.com', role: 'admin' });
    expect(id).not.toBe(mine.accountId);
    await server.members.leave(mine.accountId, mine.organizationId);
    const { status, text } = await visitor.get('/account');
    expect([status, text.includes('is in no organization')]).toEqual([200, true]);
  });
});

describe('/account/password', () => {
  const next = 'another long password';

  test('changes it, keeps this browser signed in, and ends all other sessions', async () => {
    await using opened = await open();
    const { visitor, server, owner, mine } = opened;
    const before = visitor.jar.get('sallyport_session_8787') ?? '';
    const page = await visitor.get('/account/password');
    const answer = await visitor.submit(page, { current: password, password: next, repeated: next });
    expect([answer.status, answer.location]).toEqual([303, '/account?notice=password-changed']);
    expect((await visitor.get('/account')).text).toContain('<strong>owner@localhost</strong>');
    for (const key of [before, owner.sessionKey])
      await expect(server.sessions.authenticate(key)).rejects.toMatchObject({ code: 'invalid_token' });
    expect(await server.logins.list(mine)).toHaveLength(1);
    const signIn = (word: string) =>
      server.accounts.signIn('owner@localhost', word, { address: '192.0.2.1', userAgent: null });
    await expect(signIn(password)).rejects.toMatchObject({ code: 'access_denied' });
    await signIn(next);
  });

  test.each<[string, object, number, string]>([
    ['a wrong present password', { current: 'wrong' }, 401, 'The present password is wrong.'],
    ['two that differ', { repeated: 'another' }, 400, 'The two passwords are not the same.'],
    ['one too short', { password: 'short', repeated: 'short' }, 400, 'at least 10 characters'],
  ])('%s changes nothing', async (_case, changes, status, words) => {
    await using opened = await open();
    const { visitor } = opened;
    const key = visitor.jar.get('sallyport_session_8787');
    const page = await visitor.get('/account/password');
    const answer = await visitor.submit(page, {
      current: password,
      password: next,
      repeated: next,
      ...changes,
    });
    expect([answer.status, answer.text.includes(words)]).toEqual([status, true]);
    expect(answer.text).toContain('<title>Error: ');
    expect((await visitor.get('/account')).status).toBe(200);
    expect(visitor.jar.get('sallyport_session_8787')).toBe(key);
  });

  test('tries at the present password are counted with those at the sign-in', async () => {
    await using opened = await open();
    const { visitor } = opened;
    const page = await visitor.get('/account/password');
    const tries = { current: 'wrong', password: next, repeated: next };
    for (let count = 0; count < 10; count += 1) expect((await visitor.submit(page, tries)).status).toBe(401);
    const blocked = await visitor.submit(page, { ...tries, current: password });
    expect([blocked.status, blocked.headers.get('retry-after')]).toEqual([429, '600']);
    const stranger = browser(opened.url);
    const signIn = await stranger.submit(await stranger.get('/login'), {
      email: 'owner@localhost',
      password,
    });
    expect(signIn.status).toBe(429);
  });
});
