import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { upstreamLogins } from '../../src/passthrough/upstream-login.ts';
import { runGateway, type RunningGateway } from '../oauth/running-gateway.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { adminCommand, attendedCommand } from './command.ts';

async function upstreamGateway(): Promise<RunningGateway> {
  const upstream = await runGateway({ 'oauth.deviceIntervalSeconds': 1 });
  onTestFinished(() => upstream.close());
  return upstream;
}

/** `admin upstream login`, and a person who does as they are told. */
async function logIn(dataDir: string, upstream: RunningGateway) {
  let approval: Promise<void> | undefined;
  const outcome = await attendedCommand(
    (stderr) => {
      const [, uri, code] = /^Open (\S+) in a browser and enter the code (\S+)$/m.exec(stderr) ?? [];
      if (code !== undefined) approval ??= upstream.approveDevice(`${uri ?? ''}?user_code=${code}`);
    },
    dataDir,
    ...['upstream', 'login', '--upstream', upstream.url],
  );
  await approval;
  return outcome;
}

async function refreshStatus(upstream: RunningGateway, refreshToken: string | undefined): Promise<number> {
  const { status } = await fetch(`${upstream.url}/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: upstream.clientId,
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

  expect((await logIn(dataDir, upstream)).failed).toBeUndefined();
  const second = await login();
  expect(await refreshStatus(upstream, first?.refreshToken)).toBe(400);
  expect(second?.accessToken).not.toBe(first?.accessToken);

  const out = await adminCommand(dataDir, 'upstream', 'logout', '--upstream', upstream.url);
  expect(JSON.parse(out.stdout)).toEqual({ upstream: upstream.url, removed: true });
  expect(await login()).toBeUndefined();
  expect(await refreshStatus(upstream, second?.refreshToken)).toBe(400);
});

test('without an upstream there is nowhere to log in, and the command says what to set', async () => {
  const { failed } = await adminCommand(scratchDirectory(), 'upstream', 'login');
  expect(failed).toEqual([2, expect.stringContaining('set upstream to its address')]);
});
