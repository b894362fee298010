import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runCli } from '../../testing/cli.ts';
import { startService } from '../../testing/service.ts';

test('an environment that is not there leads to those that are online', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'sallyport-run-'));
  const refusal = { error: 'not_found', error_description: 'There is no environment nope.' };
  const service = await startService({ 'POST /v1/sessions': { status: 404, body: refusal } });
  onTestFinished(() => {
    service.close();
    rmSync(cwd, { recursive: true, force: true });
  });
  const env = {
    SALLYPORT_BASE_URL: service.baseUrl,
    SALLYPORT_TOKEN: 'secret',
    SALLYPORT_ORG: '0b6f7a52-8d5e-4b5e-9d3f-000000000001',
    DO_NOT_TRACK: '1',
  };
  expect(await runCli(['session', 'run', 'look', '--env', 'nope'], { cwd, env })).toEqual({
    exitCode: 4,
    stdout: '',
    stderr:
      'error: There is no environment nope.\nSee which are online: sallyport env list --online\nWithout --env the session goes to the only one of them.\n',
  });
});
