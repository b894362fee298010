import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { firstPartyClient, gatewayClient } from '@sallyport/core/contract';
import { fetchTransport } from '@sallyport/core/client';
import { loginWithSessionKey } from '@sallyport/oauth';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import { upstreamOf } from '../../src/config/upstreams.ts';
import { openUpstreamLogin, upstreamLogins } from '../../src/passthrough/upstream-login.ts';
import { startGateway } from '../../src/start.ts';
import { runGateway, type RunningGateway } from '../oauth/running-gateway.ts';
import { scriptedUpstream } from '../passthrough/scripted-upstream.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { adminCommand, attendedCommand } from './command.ts';

async function upstreamGateway(): Promise<RunningGateway> {
  const upstream = await runGateway({ 'oauth.deviceIntervalSeconds': 1 });
  onTestFinished(() => upstream.close());
  return upstream;
}

/** `admin upstream login`, and a person who does as they are told. `args`: at which one. */
async function logIn(dataDir: string, upstream: RunningGateway, ...args: readonly string[]) {
  let approval: Promise<void> | undefined;
  const outcome = await attendedCommand(
    (stderr) => {
      const [, uri, code] = /^Open (\S+) in a browser and enter the code (\S+)$/m.exec(stderr) ?? [];
      if (code !== undefined) approval ??= upstream.approveDevice(`${uri ?? ''}?user_code=${code}`);
    },
    dataDir,
    ...['upstream', 'login', ...(args.length > 0 ? args : ['--upstream', upstream.url])],
  );
  await approval;
  return outcome;
}

async function refreshStatus(upstream: RunningGateway, refreshToken: string | undefined): Promise<number> {
  const { status } = await fetch(`${upstream.url}/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: gatewayClient.id,
      refresh_token: refreshToken ?? '',
    }),
  });
  return status;
}

test('the gateway logs in at its upstream and out; a new login ends the one before', async () => {
  const upstream = await upstreamGateway();
  const dataDir = scratchDirectory();
  const { config } = loadConfig({ env: {}, flags: { dataDir, upstream: upstream.url } });
  const login = () => upstreamLogins(config).load(upstream.url);

  const { stdout, failed } = await logIn(dataDir, upstream);
  expect(failed).toBeUndefined();
  expect(JSON.parse(stdout)).toMatchObject({ upstream: upstream.url });
  const first = await login();
  // So that the person who approves it, and finds it among the logins, sees what it is.
  expect(first?.clientId).toBe(gatewayClient.id);

  expect((await logIn(dataDir, upstream)).failed).toBeUndefined();
  const second = await login();
  expect(await refreshStatus(upstream, first?.refreshToken)).toBe(400);
  expect(second?.accessToken).not.toBe(first?.accessToken);

  const out = await adminCommand(dataDir, 'upstream', 'logout', '--upstream', upstream.url);
  expect(JSON.parse(out.stdout)).toEqual({ upstream: upstream.url, removed: true });
  expect(await login()).toBeUndefined();
  expect(await refreshStatus(upstream, second?.refreshToken)).toBe(400);
});

/** The address and the bearer of each request with one that a gateway of this process gets. */
function bearersSeen(): [string, string][] {
  const seen: [string, string][] = [];
  const note = (message: unknown) => {
    const { headers, socket } = (message as { request: IncomingMessage }).request;
    const [, bearer] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? [];
    if (bearer !== undefined) seen.push([`http://127.0.0.1:${socket.localPort}`, bearer]);
  };
  subscribe('http.server.request.start', note);
  onTestFinished(() => void unsubscribe('http.server.request.start', note));
  return seen;
}

/** A gateway, and what calls it for a person who is logged in there. */
async function gatewayInFront(dataDir: string, config: Config) {
  const gateway = await startGateway({ config, flags: ' --config g.yaml' });
  onTestFinished(() => gateway.close());
  const { url: baseUrl } = gateway;
  const { stdout } = await adminCommand(dataDir, 'session-key');
  const transport = fetchTransport();
  const { accessToken } = await loginWithSessionKey({ baseUrl, sessionKey: stdout.trim(), transport });
  const headers = { authorization: `Bearer ${accessToken}` };
  return { gateway, ask: (path: string) => fetch(baseUrl + path, { headers }) };
}

test('each of two upstreams has a login of its own, which goes to it alone', async () => {
  const [first, second] = [await upstreamGateway(), await upstreamGateway()];
  const dataDir = scratchDirectory();
  const file = join(dataDir, 'gateway.json');
  const settings = {
    ...{ port: 0, dataDir, logLevel: 'silent', areas: { oauth: 'local', devices: 'local' } },
    upstream: { url: first.url, login: true },
  };
  const read = (telemetry: object) => {
    const upstreams = { telemetry: { url: second.url, ...telemetry } };
    writeFileSync(file, JSON.stringify({ ...settings, upstreams }));
    return loadConfig({ env: {}, file }).config;
  };
  const config = read({ credential: 'none' });
  for (const [upstream, ...name] of [[first], [second, 'telemetry']] as const) {
    const { stdout } = await logIn(dataDir, upstream, ...name, '--config', file);
    expect(JSON.parse(stdout)).toMatchObject({ upstream: upstream.url });
  }
  const tokenAt = async ({ url }: RunningGateway) => (await upstreamLogins(config).load(url))?.accessToken;
  const tokens = [
    [first.url, await tokenAt(first)],
    [second.url, await tokenAt(second)],
  ];
  const { gateway, ask } = await gatewayInFront(dataDir, config);
  const seen = bearersSeen();
  const seenUpstream = () => seen.filter(([url]) => url !== gateway.url);
  const statuses = async () => [(await ask('/v1/sessions')).status, (await ask('/v1/logs')).status];
  expect(await statuses()).toEqual([200, 401]);
  expect(seenUpstream().splice(0)).toEqual([tokens[0]]);

  await gateway.reload(() => read({ login: true }));
  seen.length = 0;
  expect(await statuses()).toEqual([200, 200]);
  expect(seenUpstream()).toEqual(tokens);

  // Only what goes to the second one needs its login.
  const { stdout } = await adminCommand(dataDir, 'upstream', 'logout', 'telemetry', '--config', file);
  expect(JSON.parse(stdout)).toEqual({ upstream: second.url, removed: true });
  await gateway.reload(() => read({ login: true }));
  expect(await statuses()).toEqual([200, 502]);
  // Where the operator's files are is nothing for its callers.
  expect(await (await ask('/v1/logs')).text()).toContain(
    'run `sallyport-gateway admin upstream login telemetry`',
  );
  expect(seenUpstream()).toEqual([...tokens, tokens[0]]);
});

test('a login of before goes on for the same address under another name', async () => {
  const dataDir = scratchDirectory();
  const url = 'https://api.example';
  const local = { dataDir, 'areas.oauth': 'local', 'areas.devices': 'local' };
  const before = loadConfig({ env: {}, flags: { ...local, upstream: url, 'upstream.login': true } }).config;
  const stored = {
    baseUrl: url,
    clientId: 'client',
    accessToken: 'token-1',
    expiresAt: Date.now() + 3_600_000,
    scope: '',
  };
  await upstreamLogins(before).save(url, stored);
  const upstreams = JSON.stringify({ messages: { url, login: true } });
  const after = loadConfig({ env: {}, flags: { ...local, upstreams } }).config;
  const login = openUpstreamLogin(after, upstreamOf(after, 'messages')!);
  expect(await login.token()).toBe('token-1');
  await login.close();
});

test.each<[string, object, readonly string[], string]>([
  [
    'of nobody',
    { messages: 'http://127.0.0.1:1' },
    ['files'],
    'There is no upstream by the name of files: it must be one of messages.',
  ],
  [
    'that is one of two',
    { messages: 'http://127.0.0.1:1', files: 'http://127.0.0.1:2' },
    [],
    'say at which to log in, one of messages, files.',
  ],
])('a name %s is refused, and the others are told', async (_name, upstreams, args, says) => {
  const flags = ['--set', `upstreams=${JSON.stringify(upstreams)}`];
  const off = ['oauth', 'devices'].flatMap((area) => ['--set', `areas.${area}=off`]);
  const { failed } = await adminCommand(scratchDirectory(), 'upstream', 'logout', ...args, ...flags, ...off);
  expect(failed).toEqual([2, expect.stringContaining(says)]);
});

test.each<[string, readonly string[], string]>([
  ['the only one with a login', [], 'http://127.0.0.1:2'],
  ['the one for all by its name', ['upstream'], 'http://127.0.0.1:1'],
])('meant is %s', async (_name, args, url) => {
  const settings = {
    'areas.oauth': 'local',
    'areas.devices': 'local',
    upstream: 'http://127.0.0.1:1',
    'upstream.credential': 'none',
    upstreams: JSON.stringify({ messages: { url: 'http://127.0.0.1:2', login: true } }),
  };
  const flags = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const { stdout } = await adminCommand(scratchDirectory(), 'upstream', 'logout', ...args, ...flags);
  expect(JSON.parse(stdout)).toEqual({ upstream: url, removed: false });
});

test('without an upstream there is nowhere to log in, and the command says what to set', async () => {
  const { failed } = await adminCommand(scratchDirectory(), 'upstream', 'login');
  expect(failed).toEqual([2, expect.stringContaining('set upstream to its address')]);
});

test('an upstream without OAuth that is shown a credential needs none, and the command says so', async () => {
  await using upstream = await scriptedUpstream();
  const { failed } = await adminCommand(scratchDirectory(), 'upstream', 'login', '--upstream', upstream.url);
  expect(failed).toEqual([1, expect.stringContaining('upstream.credential needs no login')]);
});

test('an upstream that knows no gateways is logged in at as by the command line', async () => {
  const upstream = await scriptedUpstream();
  onTestFinished(() => upstream[Symbol.asyncDispose]());
  const asked: string[] = [];
  upstream.answer = ({ url, body }, response) => {
    const [id] = new RegExp(`${gatewayClient.id}|${firstPartyClient.id}`).exec(body.toString()) ?? [];
    if (id !== undefined) asked.push(id);
    response.writeHead(url.startsWith('/.well-known/') ? 404 : 400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: id === gatewayClient.id ? 'invalid_client' : 'invalid_scope' }));
  };
  const { failed } = await adminCommand(scratchDirectory(), 'upstream', 'login', '--upstream', upstream.url);
  expect(failed).toEqual([2, expect.any(String)]);
  expect(asked).toEqual([gatewayClient.id, firstPartyClient.id]);
});
