import { describe, expect, test } from 'vitest';
import { callback, clientId } from './open-server.ts';
import { openOverHttp as open } from './over-http.ts';
import { authorizePath, browser, password, setUp } from './visitor.ts';

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
