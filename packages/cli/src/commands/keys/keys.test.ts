import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeyScopes } from '@sallyport/core/scopes';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runHere } from '../../testing/cli.ts';
import { startService, type Answer, type Service } from '../../testing/service.ts';

const path = '/api/oauth/agent_cli/api_keys';
let cwd: string;
let service: Service;
let answers: Record<string, Answer>;
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'sallyport-keys-'));
  answers = { 'POST /api/oauth/agent_cli/create_api_key': { body: 'sk-1' } };
  service = await startService(answers);
});
afterEach(() => {
  service.close();
  rmSync(cwd, { recursive: true, force: true });
});

const run = (...args: string[]) =>
  runHere(args, {
    cwd,
    env: {
      SALLYPORT_BASE_URL: service.baseUrl,
      SALLYPORT_TOKEN: 'secret',
      SALLYPORT_DIALECT_VENDOR: 'acme',
      DO_NOT_TRACK: '1',
    },
  });

describe('keys create', () => {
  test('says which scopes there are', async () => {
    const { stdout } = await run('keys', 'create', '--help');
    for (const scope of apiKeyScopes) expect(stdout).toMatch(new RegExp(`^  ${scope} `, 'm'));
  });

  test('prints the key alone; what is wanted of it is sent', async () => {
    const args = ['--name', 'ci 1', '--scope', 'profile', '--scope', 'vendor_api', '--expires', '30d'];
    expect(await run('keys', 'create', ...args)).toEqual({
      exitCode: 0,
      stdout: 'sk-1\n',
      stderr: 'Keep the key now: it is not shown again.\n',
    });
    expect(service.seen.map(({ body }) => body)).toEqual([
      { name: 'ci 1', scope: 'profile acme_api', expires_in: 2_592_000 },
    ]);
  });

  test('sends no body where nothing is wanted', async () => {
    expect(JSON.parse((await run('keys', 'create', '--json')).stdout)).toEqual({ api_key: 'sk-1' });
    expect(service.seen.map(({ body }) => body)).toEqual([undefined]);
  });

  test.each(['0d', 'd', '1.5h', '-1d', '1y'])('--expires %s is wrong usage', async (time) => {
    const { exitCode, stderr } = await run('keys', 'create', '--expires', time);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('90s, 5m, 1h30m or 30d');
    expect(service.seen).toEqual([]);
  });

  test('what a key may not have is said before the service refuses it, or with a next step', async () => {
    expect(await run('keys', 'create', '--expires', '5000d')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('at most 3650 days') as string,
    });
    expect(service.seen).toEqual([]);
    const refusal = { error: 'invalid_scope', error_description: 'The scope exceeds it.' };
    answers['POST /api/oauth/agent_cli/create_api_key'] = { status: 400, body: refusal };
    const { stdout, stderr } = await run('keys', 'create', '--scope', 'all');
    expect(stdout).toBe('');
    expect(stderr).toContain('Leave --scope out');
    expect(stderr).not.toContain('Keep the key');
    const forbidden = { error: 'forbidden', error_description: 'An API key makes no other.' };
    answers['POST /api/oauth/agent_cli/create_api_key'] = { status: 403, body: forbidden };
    expect(await run('keys', 'create')).toEqual({
      exitCode: 3,
      stdout: '',
      stderr:
        'error: An API key makes no other.\nUnset SALLYPORT_TOKEN to make the key with the stored login; where there is none: sallyport login\n',
    });
  });
});

test('keys list shows when each was made, was used last, and ends', async () => {
  const key = {
    ...{ id: 'key_1', name: 'ci', scope: 'profile acme_api', created_at: '2020-01-02T03:04:05.000Z' },
    ...{ expires_at: null, last_used_at: null },
  };
  const times = { expires_at: '2030-01-01T00:00:00.000Z', last_used_at: '2020-02-01T00:00:00.000Z' };
  answers[`GET ${path}`] = { body: { api_keys: [key, { ...key, id: 'key_2', name: null, ...times }] } };
  expect((await run('keys', 'list')).stdout).toBe(
    [
      'ID     NAME  CREATED     LAST USED   EXPIRES                   SCOPE',
      'key_1  ci    2020-01-02  never       never                     profile acme_api',
      'key_2  -     2020-01-02  2020-02-01  2030-01-01T00:00:00.000Z  profile acme_api',
      '',
    ].join('\n'),
  );
  answers[`GET ${path}`] = { body: { api_keys: [] } };
  expect((await run('keys', 'list')).stdout).toContain('sallyport keys create');
});

test('keys revoke asks first, and goes on after one that is not there', async () => {
  answers[`DELETE ${path}/key_1`] = { body: { id: 'key_1', deleted: true } };
  const key = {
    ...{ id: 'key_1', name: 'ci', scope: 'profile acme_api', created_at: '2020-01-02T03:04:05.000Z' },
    ...{ expires_at: null, last_used_at: null },
  };
  answers[`GET ${path}`] = { body: { api_keys: [key] } };
  expect(await run('keys', 'revoke', 'key_1')).toMatchObject({ exitCode: 2, stdout: '' });
  expect(service.lines()).toEqual([`GET ${path}`]);
  // What is not there is no question.
  expect(await run('keys', 'revoke', 'nope')).toMatchObject({ exitCode: 4, stdout: '' });
  service.seen.length = 0;
  const { exitCode, stdout, stderr } = await run('keys', 'revoke', 'key_0', 'key_1', 'key_1', '-y');
  expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: 'API key key_1 is revoked.\n' });
  expect(stderr).toContain('sallyport keys list');
  expect(service.lines()).toEqual([`DELETE ${path}/key_0`, `DELETE ${path}/key_1`]);
});
