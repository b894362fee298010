import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runCli } from '../../testing/cli.ts';
import { environmentAt, startService, type Answer } from '../../testing/service.ts';
import { storeLogin } from '../../testing/stored-login.ts';

const organization = environmentAt({ baseUrl: '' }).SALLYPORT_ORG;
const [trust, register] = ['POST /api/auth/trusted_devices', 'POST /v1/environments/bridge'];
const access = `GET /api/bootstrap/${organization}/current_user_access`;
const viewer = { body: { access_level: 'viewer', permissions: ['read'] } };
const member = { body: { access_level: 'member', permissions: ['read', 'write'] } };
const forbidden = {
  status: 403,
  body: {
    error: 'forbidden',
    error_description: 'This needs the permission write in the organization.',
    permission: 'write',
  },
};

/** `bridge run` for a service that answers so, by a token of the environment or a stored login. */
async function bridgeRun(told: Record<string, Answer>, login?: object, args: readonly string[] = []) {
  const service = await startService({ [register]: forbidden, ...told });
  onTestFinished(() => service.close());
  const cwd = mkdtempSync(join(tmpdir(), 'sallyport-cli-'));
  const file = login && storeLogin(cwd, service.baseUrl, { organizationId: organization, ...login });
  const { SALLYPORT_TOKEN: token, ...env } = environmentAt(service);
  const ran = await runCli(['bridge', 'run', '--exec', 'true', ...args], {
    cwd,
    env: { ...env, ...(!login && { SALLYPORT_TOKEN: token }) },
  });
  const stored = file && (JSON.parse(readFileSync(file, 'utf8')) as { deviceToken?: string });
  return { ...ran, stored, lines: service.lines().filter((line) => line === trust || line === register) };
}

test.each([['a stored login', {}] as const, ['a token of the environment', undefined] as const])(
  'a viewer is told so at once, and trusts no device (%s)',
  async (_, login) => {
    const { exitCode, stdout, stderr, lines } = await bridgeRun({ [access]: viewer }, login);
    expect([exitCode, stdout]).toEqual([3, '']);
    expect(stderr).toBe(
      'error: A bridge needs the permission write in the organization, and this account is a viewer there.\n' +
        'An admin of the organization can give this account another role; `sallyport roles` shows what each may do.\n',
    );
    expect(lines).toEqual([]);
  },
);

test('who is a viewer by now, with a device from before, is told so by the service', async () => {
  const { exitCode, stderr, stored, lines } = await bridgeRun({ [access]: viewer }, { deviceToken: 'known' });
  expect(exitCode).toBe(3);
  expect(stderr).toMatch(/^error: This needs the permission write in .*\nAn admin of the organization can /);
  expect(lines).toEqual([register]);
  expect(stored).toMatchObject({ deviceToken: 'known' });
});

const env = `env_${'0'.repeat(26)}`;

test.each([
  ['the service: it ends', { error: 'not_found', error_description: 'No.' }, 4, []],
  ['a page in between: it goes on, and asks the service', '<html>Sign in</html>', 3, [register]],
])(
  'what 404 says of the environment that is named counts by whom it is from: %s',
  async (_, body, code, then) => {
    const told = { [access]: member, [`GET /v1/environments/${env}`]: { status: 404, body } };
    const { exitCode, lines } = await bridgeRun(told, { deviceToken: 'known' }, ['--env', env]);
    expect([exitCode, lines]).toEqual([code, then]);
  },
);

test('a service that does not say what the account may do is asked for a device once', async () => {
  const { exitCode, lines, stored } = await bridgeRun({ [trust]: { body: 'new' } }, {});
  expect([exitCode, lines]).toEqual([3, [trust, register]]);
  expect(stored).toMatchObject({ deviceToken: 'new' });
});

test('as many devices as an account may trust are the end, too', async () => {
  const quota = { error: 'quota_exceeded', error_description: 'Too many.', quota: 'trusted_devices' };
  const { exitCode, stderr, lines } = await bridgeRun(
    { [access]: member, [trust]: { status: 403, body: quota } },
    {},
  );
  expect([exitCode, lines]).toEqual([3, [trust]]);
  expect(stderr).toContain('sallyport device revoke');
});

const revoked = { status: 401, body: { error: 'device_revoked', error_description: 'It was revoked.' } };
const poll = 'GET /v1/environments/env_1/work/poll?block_ms=0';
const registered = { body: { environment_id: 'env_1' } };

test.each([
  ['before it began', { [register]: revoked }],
  ['while it runs', { [register]: registered, [poll]: revoked }],
] as const)('a device that was revoked %s is the end, with a next step', async (_, told) => {
  const { exitCode, stderr, stored, lines } = await bridgeRun(told, { deviceToken: 'known' });
  expect(exitCode).toBe(3);
  expect(stderr).toMatch(
    /error: .*revoked.*\nIf it is to be trusted again: `sallyport device trust`, then start the bridge again\.\n$/,
  );
  expect(stored).toMatchObject({ deviceToken: 'known' });
  expect(lines).toEqual([register]);
});

test('one device is trusted for the account of a token of the environment, until it is revoked', async () => {
  const told: Record<string, Answer> = {
    [register]: forbidden,
    [access]: member,
    [trust]: { body: 'new' },
    'GET /api/oauth/profile': {
      body: { organization: {}, account: { uuid: 'ann', email: 'a@example.com' } },
    },
  };
  const service = await startService(told);
  onTestFinished(() => service.close());
  const cwd = mkdtempSync(join(tmpdir(), 'sallyport-cli-'));
  const run = async () => {
    await runCli(['bridge', 'run', '--exec', 'true'], { cwd, env: environmentAt(service) });
    return service.lines().filter((line) => line === trust).length;
  };
  expect([await run(), await run()]).toEqual([1, 1]);
  told[register] = revoked;
  expect([await run(), await run()]).toEqual([1, 2]);
});
