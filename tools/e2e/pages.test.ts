import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { firstPartyClient } from '@sallyport/core/contract';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { findings, focused, tabTo } from './accessibility.ts';
import { launchBrowser } from './browser.ts';
import { binDir, Installation } from './installation.ts';

// A browser on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const password = 'a long enough password';

// Straight only: the pages are the same bytes through a gateway in front; `main-job.test.ts` has a person use them there.
let installation: Installation;
let browser: Browser;
/** The owner's, with JavaScript for axe: the pages have none, as the tests with the keyboard show. */
let owner: BrowserContext;
let page: Page;
let setupLink: string;

beforeAll(async () => {
  installation = new Installation();
  const [gateway, launched] = await Promise.all([installation.gateway(['--print-setup']), launchBrowser()]);
  browser = launched;
  [setupLink = ''] = await gateway.shows(/http:\S+\/setup\?\S+/);
  owner = await browser.newContext();
  page = await owner.newPage();
});
afterAll(async () => {
  await browser.close();
  await installation[Symbol.asyncDispose]();
});

const address = (path: string) => installation.baseUrl + path;
const wrongCode = '/device?user_code=BCDF-GHJK';
const authorize = (changes: Record<string, string> = {}) =>
  `/v1/oauth/authorize?${new URLSearchParams({
    response_type: 'code',
    client_id: firstPartyClient.id,
    redirect_uri: 'http://127.0.0.1:9/callback',
    state: 's',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    ...changes,
  }).toString()}`;

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(address(path), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return answer.text();
}

interface Device {
  readonly device_code: string;
  readonly verification_uri_complete: string;
}

async function device(): Promise<Device> {
  return JSON.parse(
    await post('/v1/oauth/device_authorization', { client_id: firstPartyClient.id }),
  ) as Device;
}

async function admin(...args: string[]): Promise<string> {
  const program = installation.run(`${binDir}/sallyport-gateway`, ['admin', ...args]);
  if ((await program.end()) !== 0) throw new Error(program.screen);
  return program.stdout;
}

async function signIn(at: Page, email = 'owner@localhost', word = password): Promise<void> {
  await at.goto(address('/login'));
  await at.getByLabel('E-mail address').fill(email);
  await at.getByLabel('Password').fill(word);
  await press(at, 'Sign in');
}

async function press(at: Page, name: string | RegExp): Promise<void> {
  await at.getByRole('button', { name }).first().click();
  await at.waitForLoadState();
}

/** In the order in which one meets them; each leaves the page that it is named for in the browser. */
const states: readonly (readonly [name: string, title: RegExp, go: () => Promise<unknown>])[] = [
  ['/setup', /^Set your password/, () => page.goto(setupLink)],
  [
    '/setup with two passwords that differ',
    /^Error: Set your password/,
    async () => {
      await page.getByLabel('New password', { exact: true }).fill(password);
      await page.getByLabel('New password again').fill(`${password}!`);
      await press(page, /^Set/);
    },
  ],
  [
    '/account of a newcomer',
    /^Your account/,
    async () => {
      await page.getByLabel('New password', { exact: true }).fill(password);
      await page.getByLabel('New password again').fill(password);
      await press(page, /^Set/);
    },
  ],
  ['/setup with a spent link', /^This link is spent/, () => page.goto(setupLink)],
  ['/device', /^Log a device in/, () => page.goto(address('/device'))],
  ['/device with a wrong code', /^Error: Log a device in/, () => page.goto(address(wrongCode))],
  [
    '/device with a code',
    /^Log Sallyport CLI in\?/,
    async () => page.goto((await device()).verification_uri_complete),
  ],
  ['/device, denied', /^Denied/, () => press(page, 'Deny')],
  [
    '/device, approved',
    /^Approved/,
    async () => {
      const { device_code, verification_uri_complete: uri } = await device();
      await page.goto(uri);
      await press(page, 'Approve');
      const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
      const poll = { grant_type, client_id: firstPartyClient.id, device_code };
      const { access_token: token } = JSON.parse(await post('/v1/oauth/token', poll)) as {
        access_token: string;
      };
      const headers = { authorization: `Bearer ${token}` };
      await post('/api/auth/trusted_devices', { display_name: 'workshop' }, headers);
      await post('/api/oauth/agent_cli/create_api_key', { name: 'nightly build' }, headers);
    },
  ],
  [
    'a form that has expired',
    /^Error: Not allowed/,
    async () => {
      await page.goto((await device()).verification_uri_complete);
      await owner.clearCookies({ name: /^sallyport_session/ });
      await press(page, 'Approve');
    },
  ],
  ['/login', /^Sign in/, () => page.goto(address('/login?next=/device'))],
  ['/login with a wrong password', /^Error: Sign in/, () => signIn(page, 'owner@localhost', 'wrong')],
  [
    '/account with all that it lists',
    /^Your account/,
    async () => {
      const other = await browser.newContext({
        userAgent: 'Mozilla/5.0 (Windows NT 10.0; rv:130.0) Firefox/130.0',
      });
      await signIn(await other.newPage());
      await other.close();
      await signIn(page);
      for (const listed of ['Firefox on Windows', 'Sallyport CLI', 'workshop', 'nightly build'])
        await page.getByText(listed).waitFor();
    },
  ],
  ['/account after something ended', /^Your account/, () => press(page, /^Log out: Sallyport CLI/)],
  ['/account/password', /^Change your password/, () => page.goto(address('/account/password'))],
  [
    '/account/password with a wrong one',
    /^Error: Change your password/,
    async () => {
      await page.getByLabel('Present password').fill('wrong');
      await page.getByLabel('New password', { exact: true }).fill(password);
      await page.getByLabel('New password again').fill(password);
      await press(page, /^Change/);
    },
  ],
  ['the consent', /^Log Sallyport CLI in\?/, () => page.goto(address(authorize()))],
  [
    'the consent of a member of two organizations',
    /^Log Sallyport CLI in\?/,
    async () => {
      const { id } = JSON.parse(await admin('org', 'add', 'Second')) as { id: string };
      await admin('user', 'role', 'owner@localhost', 'viewer', '--org', id);
      await page.goto(address(authorize()));
      await page.getByLabel('Organization').waitFor();
    },
  ],
  ['the consent for nobody', /^Error: /, () => page.goto(address(authorize({ client_id: randomUUID() })))],
  ['a page that is not there', /^Error: Not found/, () => page.goto(address('/nothing'))],
  ['a page that only takes forms', /^Error: No page/, () => page.goto(address('/logout'))],
  [
    '/device after too many wrong codes',
    /^Error: Too many tries/,
    async () => {
      for (let count = 0; count < 5; count += 1) await owner.request.get(address(wrongCode));
      await page.goto(address(wrongCode));
    },
  ],
  [
    '/login after signing out',
    /^Sign in/,
    async () => {
      await page.goto(address('/account'));
      await press(page, 'Sign out');
      await page.getByRole('status').waitFor();
    },
  ],
];

describe('nothing is in the way of anybody, in light and dark and on a phone', () => {
  test.each(states)('at %s', async (_name, title, go) => {
    await go();
    expect(await page.title()).toMatch(title);
    // Its own policy has let its stylesheet in.
    expect(await page.evaluate('document.styleSheets.length')).toBe(1);
    expect(await findings(page)).toEqual([]);
  });

  test('a page that is wrong is found to be', async () => {
    // Past the policy of the page before.
    await page.goto('about:blank');
    await page.setContent(
      '<title>x</title><main style="background: #fff"><img src="x"><p style="color: #ccc">pale</p><p style="color: #000">fine</main>',
    );
    const found = (await findings(page)).join('\n');
    for (const id of ['image-alt', 'html-has-lang', 'page-has-heading-one', 'color-contrast'])
      expect(found).toContain(`${id} (light, 1280px)`);
    for (const width of [1280, 360]) expect(found).toContain(`color-contrast (dark, ${width}px)`);
  });
});

describe('with the keyboard alone', () => {
  test('a person signs in, tries again after a mistake, logs a device in, and ends its login', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const visitor = await context.newPage();
    const type = (text: string) => visitor.keyboard.type(text);
    const enter = async () => {
      const left = visitor.waitForEvent('framenavigated');
      await visitor.keyboard.press('Enter');
      await left;
      await visitor.waitForLoadState();
    };
    await visitor.goto((await device()).verification_uri_complete);
    await tabTo(visitor, 'E-mail address');
    await type('owner@localhost');
    await tabTo(visitor, 'Password');
    await type('wrong');
    await enter();
    // The field to correct has the focus, and is read out with what is wrong.
    expect(await focused(visitor)).toEqual({ name: 'Password', isSeen: true });
    const field = visitor.locator(':focus');
    const described = (await field.getAttribute('aria-describedby')) ?? '';
    expect(await visitor.locator(`#${described}`).textContent()).toContain('wrong');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await type(password);
    await enter();

    // No stray Enter decides.
    expect(await visitor.title()).toMatch(/^Log Sallyport CLI in/);
    await visitor.keyboard.press('Enter');
    await tabTo(visitor, 'Approve');
    await enter();
    expect(await visitor.title()).toMatch(/^Approved/);

    await tabTo(visitor, 'Enter another code');
    await enter();
    expect(await focused(visitor)).toEqual({ name: 'Code that the device shows', isSeen: true });
    const { verification_uri_complete: uri } = await device();
    await type((new URL(uri).searchParams.get('user_code') ?? '').toLowerCase().replace('-', ' '));
    await enter();
    await tabTo(visitor, 'Deny');
    await enter();
    expect(await visitor.title()).toMatch(/^Denied/);

    await tabTo(visitor, 'Your account');
    await enter();
    await tabTo(visitor, 'Change the password');
    await enter();
    for (const [name, text] of [
      ['Present password', password],
      ['New password', `${password}!`],
      ['New password again', `${password}!`],
    ] as const) {
      await tabTo(visitor, name);
      await type(text);
    }
    await enter();
    expect((await focused(visitor)).name).toBe(
      'Your password is changed, and all other sessions have ended.',
    );
    await tabTo(visitor, /^Revoke: workshop/);
    await enter();
    expect((await focused(visitor)).name).toBe('The device is no longer trusted.');
    await tabTo(visitor, 'Sign out');
    await enter();
    expect(await visitor.title()).toMatch(/^Sign in/);
    await context.close();
  });

  test('a person sets a first password by the link, and answers a program', async () => {
    const link = await admin('user', 'password', 'owner@localhost');
    const context = await browser.newContext({ javaScriptEnabled: false });
    const visitor = await context.newPage();
    await visitor.goto(/http:[^"\s]+/.exec(link)?.[0] ?? '');
    for (const name of ['New password', 'New password again']) {
      await tabTo(visitor, name);
      await visitor.keyboard.type(password);
    }
    await visitor.keyboard.press('Enter');
    await visitor.waitForURL('**/account');
    await visitor.goto(address(authorize()));
    await tabTo(visitor, 'Organization');
    await visitor.keyboard.press('ArrowDown');
    await tabTo(visitor, 'Approve');
    const answered = visitor.waitForRequest(/:9\/callback\?/);
    await visitor.keyboard.press('Enter');
    expect(new URL((await answered).url()).searchParams.has('code')).toBe(true);
    await context.close();
  });
});

test('a program may send the browser on from its callback, to a page of its own elsewhere', async () => {
  const context = await browser.newContext();
  const visitor = await context.newPage();
  await signIn(visitor);
  const thanks = await listening((_request, response) => response.end('<title>You are logged in</title>'));
  const callback = await listening((_request, response) =>
    response.writeHead(302, { location: `http://localhost:${portOf(thanks)}/` }).end(),
  );
  const redirect_uri = `http://127.0.0.1:${portOf(callback)}/callback`;
  await visitor.goto(address(authorize({ redirect_uri })));
  await visitor.getByRole('button', { name: 'Approve' }).click();
  await visitor.waitForURL(/localhost/, { timeout: 10_000 });
  expect(await visitor.title()).toBe('You are logged in');
  await context.close();
  for (const server of [thanks, callback]) server.close().closeAllConnections();
});

test('an app that has the login in a window of its own hears how it ended', async () => {
  const context = await browser.newContext();
  const app = await listening(({ url = '' }, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(
      url.startsWith('/callback')
        ? '<script>window.opener.postMessage(location.search, location.origin); window.close()</script>'
        : '<title>Nobody is logged in</title><script>onmessage = ({ data }) => { document.title = data; }</script>',
    );
  });
  const origin = `http://127.0.0.1:${portOf(app)}`;
  const opener = await context.newPage();
  await opener.goto(origin);
  const opened = opener.waitForEvent('popup');
  const login = address(authorize({ redirect_uri: `${origin}/callback` }));
  await opener.evaluate(`void window.open(${JSON.stringify(login)}, 'login', 'popup')`);
  const popup = await opened;
  // A form that came back is a page of the way, too.
  for (const word of ['not the password', password]) {
    await popup.getByLabel('E-mail address').fill('owner@localhost');
    await popup.getByLabel('Password').fill(word);
    await press(popup, 'Sign in');
  }
  const closed = popup.waitForEvent('close');
  await popup.getByRole('button', { name: 'Approve' }).click();
  await closed;
  await opener.waitForFunction("document.title.startsWith('?code=')", undefined, { timeout: 10_000 });
  await context.close();
  app.close().closeAllConnections();
});

async function listening(handler: RequestListener): Promise<Server> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
