import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { createSecureServer } from 'node:http2';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { upstreamLogins } from '../../src/passthrough/upstream-login.ts';
import { createAuthority, type Authority } from './authority.ts';
import { configurableGateway } from './configurable-gateway.ts';
import { findingsOf } from './findings.ts';
import { through } from './through.ts';

let directory: string;
let ours: Authority;
let theirs: Authority;
const file = (name: string) => join(directory, name);

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sallyport-upstreams-'));
  [ours, theirs] = await Promise.all([createAuthority('Ours'), createAuthority('Theirs')]);
  writeFileSync(file('ours.pem'), ours.ca);
  writeFileSync(file('theirs.pem'), theirs.ca);
});
afterAll(() => rmSync(directory, { recursive: true }));

const local = { 'areas.oauth': 'local', 'areas.devices': 'local' };
const json = JSON.stringify;
const echoVersion: RequestListener = (request, response) => void response.end(request.httpVersion);

/** An upstream over TLS, with a certificate for `ip`; `http2`: it offers that beside HTTP/1.1. */
async function secureUpstream(
  authority: Authority,
  { ip = '127.0.0.1', http2 = false, answers = echoVersion } = {},
) {
  const seen: IncomingHttpHeaders[] = [];
  const listener: RequestListener = (request, response) => {
    seen.push(request.headers);
    answers(request, response);
  };
  const issued = await authority.issue(ip);
  const server = http2
    ? createSecureServer({ ...issued, allowHTTP1: true }, listener as never)
    : createServer(issued, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    seen,
    [Symbol.asyncDispose]: () => {
      if ('closeAllConnections' in server) server.closeAllConnections();
      server.close();
      return Promise.resolve();
    },
  };
}

const answerAt = async (url: string) => {
  const response = await fetch(url, { method: 'POST', body: '{}', redirect: 'manual' });
  return [response.status, await response.text()];
};

test('each upstream is trusted by its own authority, and by no other’s', async () => {
  await using first = await secureUpstream(ours);
  await using second = await secureUpstream(theirs);
  const messages = (ca?: string) => ({ upstreams: json({ messages: { url: second.url, ca } }) });
  const shared = { 'upstream.ca': file('ours.pem') };
  await using both = await through(first.url, { ...shared, ...messages(file('theirs.pem')) });
  expect(await answerAt(`${both.url}/v1/models`)).toEqual([200, '1.1']);
  expect(await answerAt(`${both.url}/v1/messages`)).toEqual([200, '1.1']);
  await using one = await through(first.url, { ...shared, ...messages() });
  expect(await answerAt(`${one.url}/v1/models`)).toEqual([200, '1.1']);
  expect((await answerAt(`${one.url}/v1/messages`))[0]).toBe(502);
  await using other = await through(first.url, messages(file('theirs.pem')));
  expect((await answerAt(`${other.url}/v1/models`))[0]).toBe(502);
  expect(await answerAt(`${other.url}/v1/messages`)).toEqual([200, '1.1']);
});

test('HTTP/2 is spoken with one and HTTP/1.1 with another', async () => {
  await using first = await secureUpstream(ours, { http2: true });
  await using second = await secureUpstream(ours, { http2: true });
  await using third = await secureUpstream(theirs);
  const upstreams = json({
    messages: { url: second.url, http2: false },
    files: { url: third.url, ca: file('theirs.pem') },
  });
  const flags = { 'upstream.ca': file('ours.pem'), 'upstream.http2': true, upstreams };
  await using served = await through(first.url, flags);
  const versions = ['models', 'messages', 'files'].map((name) => answerAt(`${served.url}/v1/${name}`));
  expect(await Promise.all(versions)).toEqual([
    [200, '2.0'],
    [200, '1.1'],
    [200, '1.1'],
  ]);
  const found = await findingsOf({ upstream: first.url, ...flags });
  expect(found.filter(([step]) => step.endsWith('answer'))).toEqual([
    [`upstream ${first.url}: answer`, true, 'HTTP 200 over TLS, in HTTP/2'],
    [`upstream ${second.url}: answer`, true, 'HTTP 200 over TLS'],
    [`upstream ${third.url}: answer`, true, 'HTTP 200 over TLS, in HTTP/1.1: it does not offer HTTP/2'],
  ]);
});

test.each([true, false])(
  'a certificate for another host is refused, and no other upstream with it (HTTP/2: %s)',
  async (http2) => {
    await using good = await secureUpstream(ours, { http2 });
    await using wrong = await secureUpstream(ours, { http2, ip: '127.0.0.2' });
    const flags = {
      'upstream.ca': file('ours.pem'),
      'upstream.http2': http2,
      upstreams: json({ messages: wrong.url }),
    };
    await using served = await through(good.url, flags);
    expect((await answerAt(`${served.url}/v1/messages`))[0]).toBe(502);
    expect((await answerAt(`${served.url}/v1/models`))[0]).toBe(200);
    expect(wrong.seen).toEqual([]);
    const found = await findingsOf({ upstream: good.url, ...flags });
    expect(found.at(-1)).toEqual([
      `upstream ${wrong.url}: answer`,
      false,
      expect.stringContaining('is for another host: use the name'),
    ]);
  },
);

test('doctor names the setting of the upstream whose authority is unknown, or whose file is missing', async () => {
  await using upstream = await secureUpstream(theirs);
  const failure = async (more: object) => {
    const upstreams = json({ messages: { url: upstream.url, credential: 'none', ...more } });
    return (await findingsOf({ ...local, upstreams })).at(-1)?.[2];
  };
  expect(await failure({})).toContain('trust its authority with upstreams.messages.ca');
  expect(await failure({ ca: file('ours.pem') })).toContain('with upstreams.messages.ca');
  expect(await failure({ ca: file('nowhere.pem') })).toContain('upstreams.messages.ca cannot be read from');
  expect(await failure({ ca: file('theirs.pem') })).toBe('answers (200)');
  const upstreams = json({ messages: { url: upstream.url, ca: file('nowhere.pem') } });
  await expect(through('http://127.0.0.1:1', { upstreams })).rejects.toThrow(
    'upstreams.messages.ca cannot be read',
  );
});

test('a redirect to another origin is passed on, and not followed with what the gateway shows', async () => {
  await using other = await secureUpstream(ours);
  const answers: RequestListener = (request, response) =>
    void response.writeHead(307, { location: other.url + (request.url ?? '') }).end();
  await using upstream = await secureUpstream(theirs, { answers });
  const messages = { url: upstream.url, ca: file('theirs.pem'), credential: 'sk-team' };
  const flags = { ...local, 'upstream.ca': file('ours.pem'), 'upstream.credential': 'none' };
  await using served = await through(other.url, { ...flags, upstreams: json({ messages }) });
  const asked = await fetch(`${served.url}/v1/messages`, {
    headers: { authorization: 'Bearer access' },
    redirect: 'manual',
  });
  expect([asked.status, asked.headers.get('location')]).toEqual([307, `${other.url}/v1/messages`]);
  expect([upstream.seen[0]?.authorization, other.seen]).toEqual(['Bearer sk-team', []]);
  const found = await findingsOf({ upstream: other.url, ...flags, upstreams: json({ messages }) });
  expect(found.at(-1)).toEqual([
    `upstream ${upstream.url}: credential`,
    false,
    `${upstream.url} sends requests on to ${other.url} (307), where no credential follows: set upstreams.messages.url to where they are served.`,
  ]);
  expect(json([other.seen, found])).not.toContain('sk-team');
});

/** An authorization server: it takes `refresh-1` once, and then its `token-2` alone. */
const authorizing: RequestListener = (request, response) => {
  const { url = '', headers } = request;
  const origin = `https://${headers.host ?? ''}`;
  const answer = (status: number, body: object) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(json(body));
  if (url.startsWith('/.well-known/'))
    answer(200, {
      issuer: origin,
      token_endpoint: `${origin}/token`,
      grant_types_supported: ['refresh_token'],
    });
  else if (url === '/token')
    answer(200, {
      access_token: 'token-2',
      refresh_token: 'refresh-2',
      token_type: 'bearer',
      expires_in: 3600,
    });
  else answer(headers.authorization === 'Bearer token-2' ? 200 : 401, {});
};

test('the login at an upstream is renewed there, by its own authority, and shown to it alone', async () => {
  await using first = await secureUpstream(ours);
  await using second = await secureUpstream(theirs, { answers: authorizing });
  const messages = { url: second.url, ca: file('theirs.pem'), login: true };
  const flags = {
    ...{ ...local, upstream: first.url, 'upstream.ca': file('ours.pem'), 'upstream.credential': 'sk-team' },
    ...{ dataDir: file('data'), upstreams: json({ messages }) },
  };
  const { config } = loadConfig({ env: {}, flags });
  const expired = {
    clientId: 'gateway',
    accessToken: 'token-1',
    refreshToken: 'refresh-1',
    expiresAt: 0,
    scope: '',
  };
  await upstreamLogins(config).save(second.url, { baseUrl: second.url, ...expired });
  await using served = await through(first.url, flags);
  const status = async (path: string) =>
    (await fetch(served.url + path, { headers: { authorization: 'Bearer access' } })).status;
  expect([await status('/v1/messages'), await status('/v1/models')]).toEqual([200, 200]);
  expect(first.seen.map(({ authorization }) => authorization)).toEqual(['Bearer sk-team']);
  expect(second.seen.at(-1)?.authorization).toBe('Bearer token-2');
  expect(json(second.seen)).not.toMatch(/sk-team|Bearer access/);
  expect((await findingsOf(flags)).at(-1)).toEqual([
    `upstream ${second.url}: credential`,
    true,
    'is not refused (200)',
  ]);
});

test.each([true, false])(
  'an authority that is swapped is asked for new connections; open streams go on (HTTP/2: %s)',
  async (http2) => {
    let say: (text: string) => void = () => undefined;
    await using upstream = await secureUpstream(theirs, {
      http2,
      answers: (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': 1\n\n');
        say = (text) => void response.end(text);
      },
    });
    await using good = await secureUpstream(ours);
    const trusted = file(`swapped-${http2}.pem`);
    copyFileSync(file('theirs.pem'), trusted);
    const settings = {
      upstream: { url: good.url, ca: file('ours.pem') },
      upstreams: { messages: { url: upstream.url, ca: trusted, http2 } },
    };
    await using served = await configurableGateway(settings);
    const stream = await fetch(`${served.url}/v1/messages`);
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect(await reader?.read()).toMatchObject({ value: ': 1\n\n' });
    const speak = say;

    copyFileSync(file('ours.pem'), trusted);
    await served.reload(settings);
    expect(served.told.splice(0)).toEqual([['info', { changed: [] }]]);
    expect((await fetch(`${served.url}/v1/messages`)).status).toBe(502);
    expect((await fetch(`${served.url}/v1/models`)).status).toBe(200);

    // A file that is gone changes nothing.
    rmSync(trusted);
    await served.reload(settings);
    expect(served.told.splice(0)).toEqual([
      ['error', { reason: expect.stringContaining('upstreams.messages.ca cannot be read') as string }],
    ]);
    copyFileSync(file('theirs.pem'), trusted);
    await served.reload(settings);
    const again = await fetch(`${served.url}/v1/messages`);
    expect(again.status).toBe(200);
    await again.body?.cancel();
    speak(': 2\n\n');
    expect(await reader?.read()).toMatchObject({ value: ': 2\n\n' });
    expect(await reader?.read()).toMatchObject({ done: true });
  },
);
