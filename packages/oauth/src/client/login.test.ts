import { undiciTransport } from '@sallyport/core/client';
import { ManualClock } from '@sallyport/core/testing';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { drive } from '../../test/drive.ts';
import { accessToken, startScriptedServer, tokens, type ScriptedServer } from '../../test/scripted-server.ts';
import { login, type Login } from './login.ts';

const transport = undiciTransport();
afterAll(() => transport.close());

let server: ScriptedServer;
let shown: string[];
beforeEach(async () => {
  shown = [];
  server = await startScriptedServer();
  server.on('/v1/oauth/token', { body: tokens(1) });
  server.on('/v1/oauth/device_authorization', {
    body: { device_code: 'dc-1', user_code: 'BCDF-GHJK', verification_uri: server.baseUrl, expires_in: 900 },
  });
});
afterEach(() => server.close());

const logIn = (clock: ManualClock, openBrowser: Login['openBrowser']) =>
  login({
    // The browser has time enough, however far the clock is driven for the polls.
    ...{ baseUrl: server.baseUrl, transport, clock, timeoutMs: 1e9 },
    onPrompt: ({ user_code }) => void shown.push(user_code),
    ...(openBrowser && { openBrowser }),
  });

test.each([
  ['there is no browser', undefined],
  ['none opens', () => Promise.reject(new Error('no display'))],
])('where %s, it is by a code', async (_, openBrowser) => {
  const clock = new ManualClock();
  expect(await drive(clock, logIn(clock, openBrowser))).toMatchObject({ accessToken: accessToken('at-1') });
  expect(shown).toEqual(['BCDF-GHJK']);
});

test('a person who says no in the browser is not asked again', async () => {
  const deny = (url: string) => {
    const asked = new URL(url).searchParams;
    const redirect = new URL(asked.get('redirect_uri')!);
    const answer = { error: 'access_denied', state: asked.get('state')!, iss: server.baseUrl };
    for (const [name, value] of Object.entries(answer)) redirect.searchParams.set(name, value);
    fetch(redirect).catch(() => undefined); // nobody looks at its page
  };
  await expect(logIn(new ManualClock(), deny)).rejects.toMatchObject({ code: 'denied' });
  expect(shown).toEqual([]);
});
