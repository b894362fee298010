import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@sallyport/core';
import { firstPartyClient } from '@sallyport/core/contract';
import { onTestFinished, expect, test } from 'vitest';
import { createLog } from '../../src/http/log.ts';
import { loadConfig } from '../../src/config/load.ts';
import { openPassthrough } from '../../src/passthrough/open.ts';
import { upstreamLogins } from '../../src/passthrough/upstream-login.ts';
import { answer, rawUpstream } from './raw-upstream.ts';
import { through } from './through.ts';

const json = (body: unknown) =>
  answer(JSON.stringify(body), { headers: 'content-type: application/json\r\n' });

/** An upstream with an authorization server: it takes `token-N` for the current N alone, and rotates refresh tokens. */
async function vendor() {
  const state = { current: 1, refreshes: 0, ended: false, refuses: '', asked: () => Promise.resolve() };
  const upstream = await rawUpstream(async (socket, head, body) => {
    const origin = `http://127.0.0.1:${upstream.port}`;
    if (head.includes('/.well-known/'))
      return socket.write(
        json({
          issuer: origin,
          authorization_endpoint: `${origin}/v1/oauth/authorize`,
          token_endpoint: `${origin}/v1/oauth/token`,
          response_types_supported: ['code'],
          grant_types_supported: ['refresh_token'],
        }),
      );
    if (head.startsWith('POST /v1/oauth/token')) {
      await state.asked();
      const isKnown = String(body).includes(`refresh-${state.current}`);
      if (!isKnown || state.ended)
        return socket.write(
          answer('{"error":"invalid_grant"}', {
            status: '400 Bad',
            headers: 'content-type: application/json\r\n',
          }),
        );
      state.refreshes++;
      const n = ++state.current;
      return socket.write(
        json({
          access_token: `token-${n}`,
          refresh_token: `refresh-${n}`,
          token_type: 'bearer',
          expires_in: 3600,
          scope: 'vendor_api',
        }),
      );
    }
    const token = /\r\nauthorization: Bearer (\S+)/.exec(head)?.[1] ?? '';
    const isGood = token === `token-${state.current}` && token !== state.refuses;
    return socket.write(isGood ? answer(`ok ${String(body)}`) : answer('no', { status: '401 Unauthorized' }));
  });
  return { upstream, state };
}

/** A gateway that has logged in there, whose token is good for `expiresInMs` more by its own book. */
async function loggedIn(url: string, expiresInMs: number) {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-login-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const lines: string[] = [];
  const to = new Writable({ write: (chunk, _encoding, done) => (lines.push(String(chunk)), done()) });
  const flags = { dataDir, 'areas.oauth': 'local', 'areas.devices': 'local', 'upstream.login': true };
  const { config } = loadConfig({ env: {}, flags: { upstream: url, ...flags } });
  await upstreamLogins(config).save(url, {
    baseUrl: url,
    clientId: firstPartyClient.id,
    accessToken: 'token-1',
    refreshToken: 'refresh-1',
    expiresAt: Date.now() + expiresInMs,
    scope: 'vendor_api',
  });
  const served = await through(url, flags, { log: createLog('trace', to) });
  const call = (path: string, init: RequestInit = {}) =>
    fetch(served.url + path, { ...init, headers: { authorization: 'Bearer access' } });
  return { served, call, lines };
}

test('the login goes along in place of the callers’ credentials, and is renewed before it runs out', async () => {
  const { upstream, state } = await vendor();
  await using _upstream = upstream;
  const { served, call, lines } = await loggedIn(upstream.url, 5_000);
  await using _served = served;
  const answers = await Promise.all([
    call('/v1/models'),
    call('/v1/sessions'),
    call('/v1/messages', { method: 'POST', body: 'b' }),
  ]);
  expect(await Promise.all(answers.map((one) => one.text()))).toEqual(['ok ', 'ok ', 'ok b']);
  expect(state.refreshes).toBe(1);
  expect(upstream.heads.join()).not.toContain('Bearer access');
  expect(lines.join('')).not.toMatch(/token-\d|refresh-\d/);
});

test('a caller that hangs up amid an upload while the login is renewed ends nothing', async () => {
  const { upstream, state } = await vendor();
  await using _upstream = upstream;
  const { served, call } = await loggedIn(upstream.url, -1);
  await using _served = served;
  const asked = Promise.withResolvers<undefined>();
  const gone = Promise.withResolvers<undefined>();
  state.asked = () => (asked.resolve(undefined), gone.promise);
  served.listener.server.once('connection', (socket: Socket) =>
    socket.once('close', () => gone.resolve(undefined)),
  );
  const caller = connect(Number(new URL(served.url).port), '127.0.0.1').on('error', () => undefined);
  caller.write(
    'POST /v1/files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer access\r\nContent-Length: 99999\r\n\r\n',
  );
  await asked.promise;
  caller.resetAndDestroy();
  await gone.promise;
  expect(await (await call('/v1/models')).text()).toBe('ok ');
});

test('a token that the upstream refuses is renewed, and the request goes again: once', async () => {
  const { upstream, state } = await vendor();
  await using _upstream = upstream;
  const { served, call } = await loggedIn(upstream.url, 3_600_000);
  await using _served = served;
  expect(await (await call('/v1/models')).text()).toBe('ok ');
  // Ended there before its time; the refresh token still counts.
  state.refuses = 'token-1';
  expect(await (await call('/v1/messages', { method: 'POST', body: 'again' })).text()).toBe('ok again');
  expect(state.refreshes).toBe(1);
  state.refuses = 'token-2';
  state.ended = true;
  expect((await call('/v1/models')).status).toBe(502);
});

test('a login that has ended is 502, says what to do, and tells no secrets', async () => {
  const { upstream, state } = await vendor();
  await using _upstream = upstream;
  const { served, call, lines } = await loggedIn(upstream.url, -1);
  await using _served = served;
  state.ended = true;
  const refused = await call('/v1/models');
  const body = await refused.text();
  expect([refused.status, body]).toEqual([502, expect.stringContaining('admin upstream login')]);
  expect(body + lines.join('')).not.toMatch(/token-\d|refresh-\d/);
});

test('whoever is nobody here does not get it', async () => {
  const { upstream } = await vendor();
  await using _upstream = upstream;
  const { served } = await loggedIn(upstream.url, 3_600_000);
  await using _served = served;
  expect((await fetch(`${served.url}/v1/models`)).status).toBe(401);
  expect(upstream.heads).toEqual([]);
});

test('a gateway that lacks its login says so at the start, and how to make one', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-login-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const upstream = 'https://api.example';
  const flags = {
    upstream,
    dataDir,
    'areas.oauth': 'local',
    'areas.devices': 'local',
    'upstream.login': true,
  };
  const { config } = loadConfig({ env: {}, flags });
  const warnings = async () => {
    const lines: string[] = [];
    const to = new Writable({ write: (chunk, _encoding, done) => (lines.push(String(chunk)), done()) });
    const log = createLog('warn', to);
    await (await openPassthrough(config, systemClock, log, undefined, ' --config g.yaml')).close();
    return lines;
  };
  expect(await warnings()).toEqual([
    expect.stringContaining('`sallyport-gateway admin upstream login --config g.yaml`'),
  ]);
  const login = { clientId: firstPartyClient.id, accessToken: 'token-1', expiresAt: 0, scope: 'vendor_api' };
  await upstreamLogins(config).save(upstream, { baseUrl: upstream, ...login });
  expect(await warnings()).toEqual([]);
});
