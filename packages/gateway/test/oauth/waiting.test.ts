import { ServiceError } from '@sallyport/core';
import { describe, expect, test } from 'vitest';
import { waitText } from '../../src/pages/moment.ts';
import { clientId } from './open-server.ts';
import { openOverHttp as open } from './over-http.ts';
import { browser, password, setUp } from './visitor.ts';

test.each([
  [0, '1 second'],
  [1_000, '1 second'],
  [4_001, '5 seconds'],
  [119_000, '119 seconds'],
  [119_001, '2 minutes'],
  [599_001, '10 minutes'],
  [7_140_001, '2 hours'],
])('%i ms of waiting are shown as %s', (ms, text) => expect(waitText(ms)).toBe(text));

type Opened = Awaited<ReturnType<typeof open>>;
type Answer = Awaited<ReturnType<ReturnType<typeof browser>['get']>>;

/** A way to try what a person tries, with what is wrong, until there were too many. */
type Limit = (opened: Opened) => Promise<{ readonly max: number; readonly attempt: () => Promise<Answer> }>;

const signIn =
  (email: string): Limit =>
  async ({ url }) => {
    const visitor = browser(url);
    const page = await visitor.get('/login');
    return { max: 10, attempt: () => visitor.submit(page, { email, password: 'wrong' }) };
  };

const limits: Readonly<Record<string, Limit>> = {
  'the sign-in of an account': signIn('owner@localhost'),
  'the sign-in of nobody': signIn('nobody@localhost'),
  async 'the present password'(opened) {
    const { visitor } = await setUp(opened);
    const page = await visitor.get('/account/password');
    const tries = { current: 'wrong', password: 'another good one', repeated: 'another good one' };
    return { max: 10, attempt: () => visitor.submit(page, tries) };
  },
  async 'a device code that is typed'(opened) {
    const { visitor } = await setUp(opened);
    return { max: 5, attempt: () => visitor.get('/device?user_code=BBBB-BBBB') };
  },
  async 'a device code that is decided on'(opened) {
    const { visitor } = await setUp(opened);
    const { user_code: code } = await opened.server.deviceFlow.start({ client_id: clientId }, '::1');
    const page = await visitor.get(`/device?user_code=${code}`);
    return { max: 5, attempt: () => visitor.submit(page, { user_code: 'BBBB-BBBB', decision: 'approve' }) };
  },
};

describe('a page that lets nobody try again says when it will', () => {
  test.each(Object.entries(limits))('%s', async (_, limit) => {
    await using opened = await open();
    const { max, attempt } = await limit(opened);
    for (let count = 0; count < max; count += 1) expect((await attempt()).status).toBeLessThan(429);
    const saysToWait = async (seconds: number, words: string) => {
      const { status, headers, text } = await attempt();
      expect([status, headers.get('retry-after')]).toEqual([429, String(seconds)]);
      expect(text).toContain(`Try again in ${words}.`);
    };
    await saysToWait(600, '10 minutes');
    await opened.clock.advance(541_000);
    await saysToWait(59, '59 seconds');
    await opened.clock.advance(59_000);
    expect((await attempt()).status).toBeLessThan(429);
  });

  test('of an account it tells no more than of nobody', async () => {
    await using opened = await open();
    await setUp(opened);
    const texts: string[] = [];
    for (const email of ['owner@localhost', 'nobody@localhost']) {
      const { attempt } = await signIn(email)(opened);
      for (let count = 0; count < 10; count += 1) await attempt();
      const { status, text } = await attempt();
      texts.push(`${status} ${text.replaceAll(email, '').replace(/name="proof" value="[^"]+"/, '')}`);
    }
    expect(texts[0]).toContain('sallyport admin people unlock');
    expect(texts[1]).toBe(texts[0]);
  });

  test.each(['signIn', 'setUp'] as const)('a crowd, too (%s)', async (name) => {
    await using opened = await open();
    const { accounts } = opened.server;
    const crowd = new ServiceError('overloaded', 'Too many sign-ins at once.', { retryAfterMs: 5000 });
    const { pathname, search } = new URL((await accounts.setupLink(opened.owner.accountId)).url);
    Object.assign(accounts, { [name]: () => Promise.reject(crowd) });
    const visitor = browser(opened.url);
    const page = await visitor.get(name === 'setUp' ? pathname + search : '/login');
    const { status, headers, text } = await visitor.submit(page, { password, repeated: password });
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    expect(text).toMatch(/Too many sign-ins at once\.[^]*Try again in 5 seconds\./);
  });
});
