import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runHere } from '../../testing/cli.ts';
import { startService, type Answer, type Service } from '../../testing/service.ts';
import { storeLogin } from '../../testing/stored-login.ts';

const path = '/api/auth/trusted_devices';
let cwd: string;
let service: Service;
let loginFile: string;
let answers: Record<string, Answer>;
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'sallyport-device-'));
  answers = { [`POST ${path}`]: { body: 'tdt-secret' } };
  service = await startService(answers);
  loginFile = storeLogin(cwd, service.baseUrl);
});
afterEach(() => {
  service.close();
  rmSync(cwd, { recursive: true, force: true });
});

const run = (args: string, env: NodeJS.ProcessEnv = {}) =>
  runHere(args.split(' '), { cwd, env: { SALLYPORT_BASE_URL: service.baseUrl, DO_NOT_TRACK: '1', ...env } });

test('device trust keeps the token with the login, and shows it to nobody', async () => {
  expect(await run('device trust')).toEqual({
    exitCode: 0,
    stdout: `This machine is trusted as ${hostname()}.\n`,
    stderr: '',
  });
  const { stdout } = await run('device trust --name laptop --json');
  expect(JSON.parse(stdout)).toEqual({ display_name: 'laptop', trusted: true });
  expect(service.seen.map(({ body }) => body)).toEqual([
    { display_name: hostname() },
    { display_name: 'laptop' },
  ]);
  expect(JSON.parse(readFileSync(loginFile, 'utf8'))).toMatchObject({
    accessToken: 'at-1',
    deviceToken: 'tdt-secret',
  });
});

test('device trust needs a login to keep the token with', async () => {
  expect(await run('device trust', { SALLYPORT_TOKEN: 'x' })).toMatchObject({ exitCode: 2, stdout: '' });
  expect(service.seen).toEqual([]);
});

test('device list and revoke', async () => {
  const device = { display_name: 'a\u001B[2Jb', created_at: '2020-01-02T03:04:05.000Z', last_used_at: null };
  answers[`GET ${path}`] = { body: { trusted_devices: [{ id: 'd_1', ...device }] } };
  answers[`DELETE ${path}/d_1`] = { body: { id: 'd_1', deleted: true } };
  expect((await run('device list')).stdout).toBe(
    'ID   NAME    CREATED     LAST USED\nd_1  a [2Jb  2020-01-02  never\n',
  );
  expect(await run('device revoke d_1')).toMatchObject({ exitCode: 2, stdout: '' });
  // What is not there is no question.
  expect(await run('device revoke d_9')).toMatchObject({
    exitCode: 4,
    stderr: expect.stringContaining('sallyport device list') as string,
  });
  expect(await run('device revoke d_1 --yes')).toEqual({
    exitCode: 0,
    stdout: 'Device d_1 is revoked.\n',
    stderr: '',
  });
  expect((await run('device revoke d_9 --yes')).exitCode).toBe(4);
});
