import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runCli } from '../../testing/cli.ts';
import { environmentAt, startService } from '../../testing/service.ts';

test('an environment that is not there leads to those that are online', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'sallyport-run-'));
  const refusal = { error: 'not_found', error_description: 'There is no environment nope.' };
  const service = await startService({ 'POST /v1/sessions': { status: 404, body: refusal } });
  onTestFinished(() => {
    service.close();
    rmSync(cwd, { recursive: true, force: true });
  });
  const env = environmentAt(service);
  expect(await runCli(['session', 'run', 'look', '--env', 'nope'], { cwd, env })).toEqual({
    exitCode: 4,
    stdout: '',
    stderr:
      'error: There is no environment nope.\nSee which are online: sallyport env list --online\nWithout --env the session goes to the only one of them.\n',
  });
});
