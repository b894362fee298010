import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@sallyport/core/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCli } from '../../testing/cli.ts';
import { startService, type Answer, type Service } from '../../testing/service.ts';

const organization = '0b6f7a52-8d5e-4b5e-9d3f-000000000001';
let cwd: string;
let service: Service;
let answer: Answer;
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'sallyport-status-'));
  service = await startService(() => answer);
});
afterEach(() => {
  service.close();
  rmSync(cwd, { recursive: true, force: true });
});

/** Files of a bridge that was run here, as it left them. */
function wasRun(baseUrl: string): void {
  const identity = { base_url: baseUrl, directory: '/srv/app', name: 'laptop' };
  const key = createHash('sha256')
    .update(JSON.stringify(Object.values(identity)))
    .digest('hex')
    .slice(0, 16);
  const folder = join(cwd, 'config/state', key);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'bridge.json'), JSON.stringify(identity));
  writeFileSync(
    join(folder, 'pointer.json'),
    JSON.stringify({ environment_id: 'env_1', worker_id: 'w', generation: 1 }),
  );
}

const status = (baseUrl: string, ...args: string[]) =>
  runCli(['bridge', 'status', ...args], {
    cwd,
    env: {
      SALLYPORT_BASE_URL: baseUrl,
      SALLYPORT_TOKEN: 'secret',
      SALLYPORT_ORG: organization,
      DO_NOT_TRACK: '1',
    },
  });

const row = (state: string) =>
  new RegExp(`^ENVIRONMENT .*\\nenv_1 +${state} +- +0 +- +not running +laptop +/srv/app\\n$`);

test('a bridge that the service does not have is unregistered', async () => {
  wasRun(service.baseUrl);
  answer = { body: { environments: [], has_more: false } };
  expect(await status(service.baseUrl)).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(row('unregistered')) as string,
    stderr: '',
  });
});

test.each([
  ['cannot be reached', 6, undefined, 'Is the gateway running?'],
  ['refuses the login', 3, { status: 401, body: { error: 'invalid_token' } }, 'SALLYPORT_TOKEN'],
])(
  'where the gateway %s, what this machine knows is shown all the same',
  async (_, exitCode, refusal, next) => {
    const baseUrl = refusal ? service.baseUrl : `http://127.0.0.1:${await freePort()}`;
    if (refusal) answer = refusal;
    wasRun(baseUrl);
    const ran = await status(baseUrl);
    expect(ran).toEqual({
      exitCode,
      stdout: expect.stringMatching(row('unknown')) as string,
      stderr: expect.stringContaining(
        'The gateway could not be asked, so this is what this machine knows.',
      ) as string,
    });
    expect(ran.stderr).toContain(next);
    const asJson = await status(baseUrl, '--json');
    expect(asJson.exitCode).toBe(exitCode);
    expect(JSON.parse(asJson.stdout)).toMatchObject([
      { environment_id: 'env_1', status: 'unknown', last_seen_at: null, active_sessions: 0, pid: null },
    ]);
  },
);
