import { undiciTransport } from '@sallyport/core/client';
import { ManualClock } from '@sallyport/core/testing';
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  accessToken,
  refusal,
  startScriptedServer,
  tokens,
  type ScriptedServer,
} from '../../test/scripted-server.ts';
import { loginWithBrowser, type BrowserLogin } from './browser.ts';

const transport = undiciTransport();
afterAll(() => transport.close());

const clock = new ManualClock();
let server: ScriptedServer;
beforeEach(async () => {
  server = await startScriptedServer();
  server.on('/v1/oauth/token', { body: tokens(1) });
});
afterEach(() => server.close());

/** The address that the server would send the browser to, with what the test wants otherwise. */
function redirectOf(url: string, query: Record<string, string> = {}): URL {
  const asked = new URL(url).searchParams;
  const redirect = new URL(asked.get('redirect_uri')!);
  const good = { code: 'c-1', state: asked.get('state')!, iss: server.baseUrl };
  for (const [name, value] of Object.entries({ ...good, ...query })) redirect.searchParams.set(name, value);
  return redirect;
}

/** A login whose browser does as told, and the page that the browser got in the end. */
async function logIn(browse: (url: string) => Promise<Response>, more: Partial<BrowserLogin> = {}) {
  let page: Promise<Response> | undefined;
  const openBrowser = (url: string) => {
    page = browse(url);
    page.catch(() => undefined);
  };
  const [outcome] = await Promise.allSettled([
    loginWithBrowser({ baseUrl: server.baseUrl, transport, clock, openBrowser, ...more }),
  ]);
  return { outcome, page: await page?.catch(() => undefined) };
}

async function refusesConnections(port: string): Promise<boolean> {
  const socket = connect(Number(port), '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('error', () => resolve(true));
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
  });
}

test('opens the browser, takes its redirect, exchanges the code, says so on the page, and listens no more', async () => {
  let opened = '';
  const { outcome, page } = await logIn(
    (url) => {
      opened = url;
      return fetch(redirectOf(url));
    },
    { clientId: 'client-1', organizationId: 'org-1' },
  );
  expect(outcome).toMatchObject({
    status: 'fulfilled',
    value: {
      accessToken: accessToken('at-1'),
      refreshToken: 'rt-1',
      organizationId: 'org-1',
      accountId: 'account-1',
    },
  });
  const { origin, pathname, searchParams } = new URL(opened);
  expect(origin + pathname).toBe(server.metadata.authorization_endpoint);
  expect(Object.fromEntries(searchParams)).toMatchObject({
    response_type: 'code',
    client_id: 'client-1',
    organization_uuid: 'org-1',
    code_challenge_method: 'S256',
    redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/) as string,
  });
  const [token] = server.to('/v1/oauth/token');
  expect(token?.body).toMatchObject({ code: 'c-1', redirect_uri: searchParams.get('redirect_uri') });
  const verifier = String(token?.body['code_verifier']);
  expect(createHash('sha256').update(verifier).digest('base64url')).toBe(searchParams.get('code_challenge'));

  expect(page?.status).toBe(200);
  expect(await page?.text()).toContain('You are logged in');
  expect(page?.headers.get('cache-control')).toBe('no-store');
  expect(page?.headers.get('referrer-policy')).toBe('no-referrer');
  expect(page?.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await refusesConnections(new URL(searchParams.get('redirect_uri')!).port)).toBe(true);
  expect(clock.timers).toBe(0);
});

test('a login is for the organization that its token names, whichever was asked for', async () => {
  const { outcome } = await logIn((url) => fetch(redirectOf(url)), { organizationId: 'org-2' });
  expect(outcome).toMatchObject({ status: 'fulfilled', value: { organizationId: 'org-1' } });
});

describe('a redirect', () => {
  test.each([
    ['of another login', { state: 'other' }, 'state_mismatch'],
    ['of another issuer', { iss: 'https://evil.example' }, 'issuer_mismatch'],
    ['of a denial', { error: 'access_denied' }, 'denied'],
    ['of another refusal', { error: 'invalid_scope' }, 'invalid_scope'],
  ])('%s redeems nothing, and the page says why', async (_, query, code) => {
    const { outcome, page } = await logIn((url) => fetch(redirectOf(url, query)));
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code } });
    expect(page?.status).toBe(400);
    expect(await page?.text()).toContain('The login failed');
    expect(server.to('/v1/oauth/token')).toHaveLength(0);
  });

  test('without the issuer that the metadata promises is refused', async () => {
    const { outcome } = await logIn((url) => {
      const redirect = redirectOf(url);
      redirect.searchParams.delete('iss');
      return fetch(redirect);
    });
    expect(outcome).toMatchObject({ reason: { code: 'issuer_mismatch' } });
  });

  test('whose refusal has markup in it shows it as text', async () => {
    const { page } = await logIn((url) =>
      fetch(redirectOf(url, { error: 'server_error', error_description: '<script>alert(1)</script>' })),
    );
    const html = await page!.text();
    expect(html).not.toContain('<script>');
    expect(html).toContain('&#60;script&#62;alert(1)');
  });

  test('whose code the service refuses gets a page that says so', async () => {
    server.on('/v1/oauth/token', {
      status: 400,
      body: { error: 'invalid_grant', error_description: 'Used already.' },
    });
    const { outcome, page } = await logIn((url) => fetch(redirectOf(url)));
    expect(outcome).toMatchObject({ reason: { name: 'ServiceError', code: 'invalid_grant' } });
    expect(await page?.text()).toContain('Used already.');
  });

  test('counts once: nothing else on that port is an answer, and a second one is told so', async () => {
    const statuses: number[] = [];
    const { outcome } = await logIn(async (url) => {
      const redirect = redirectOf(url);
      for (const wrong of ['/', '/favicon.ico', '/callback/', '//callback']) {
        statuses.push((await fetch(redirect.origin + wrong + redirect.search)).status);
      }
      statuses.push((await fetch(redirect, { method: 'POST' })).status);
      server.on('/v1/oauth/token', async () => {
        statuses.push((await fetch(redirect)).status);
        return { body: tokens(1) };
      });
      return fetch(redirect);
    });
    expect(outcome.status).toBe('fulfilled');
    expect(statuses).toEqual([404, 404, 404, 404, 404, 410]);
    expect(server.to('/v1/oauth/token')).toHaveLength(1);
  });
});

describe('where nothing is discovered', () => {
  const nothing = { status: 404, body: refusal('not_found') };
  beforeEach(() => server.on('/.well-known/oauth-authorization-server', nothing));

  test('no browser is opened at an address where there is nothing', async () => {
    const { outcome, page } = await logIn((url) => fetch(redirectOf(url)));
    expect(outcome).toMatchObject({ reason: { name: 'ServiceError', status: 404 } });
    expect(page).toBeUndefined();
  });

  test('the specified page is enough, however it answers without a request', async () => {
    server.on('/v1/oauth/authorize', { status: 400, body: '<p>Which client?</p>' });
    const { outcome } = await logIn((url) => fetch(redirectOf(url)));
    expect(outcome.status).toBe('fulfilled');
  });
});

describe('the wait for the person', () => {
  async function wait(openBrowser: BrowserLogin['openBrowser'], more: Partial<BrowserLogin> = {}) {
    const [outcome] = await Promise.allSettled([
      loginWithBrowser({ baseUrl: server.baseUrl, transport, clock, openBrowser, ...more }),
    ]);
    expect(clock.timers).toBe(0);
    return outcome;
  }

  test('ends after its time', async () => {
    let port = '';
    const browse = (url: string) => {
      ({ port } = redirectOf(url));
      setImmediate(() => void clock.advance(60_000));
    };
    expect(await wait(browse, { timeoutMs: 60_000 })).toMatchObject({ reason: { code: 'timed_out' } });
    expect(await refusesConnections(port)).toBe(true);
  });

  test('ends when it is interrupted, and frees the port even from a browser in mid-request', async () => {
    const interrupted = new AbortController();
    let port = '';
    const browse = (url: string) => {
      ({ port } = redirectOf(url));
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      socket.write('GET /callback HTTP/1.1\r\n', () => {
        // By the time that another request was answered, the beginning of this one has arrived.
        void fetch(`http://127.0.0.1:${port}/`).then(() => interrupted.abort());
      });
    };
    expect(await wait(browse, { signal: interrupted.signal })).toMatchObject({ reason: { code: 'aborted' } });
    expect(await refusesConnections(port)).toBe(true);
  });

  test('ends when no browser opens', async () => {
    const outcome = await wait(() => Promise.reject(new Error('no display')));
    expect(outcome).toMatchObject({ reason: { code: 'browser_failed', cause: { message: 'no display' } } });
  });

  test('does not need the opener to return', async () => {
    const outcome = await wait((url) => {
      fetch(redirectOf(url)).catch(() => undefined); // nobody looks at its page
      return new Promise(() => undefined);
    });
    expect(outcome.status).toBe('fulfilled');
  });
});
