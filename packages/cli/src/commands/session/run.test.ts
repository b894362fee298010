import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runCli } from '../../testing/cli.ts';
import { environmentAt, startService } from '../../testing/service.ts';
import { testSession } from '../../testing/session.ts';

test('an environment that is not there leads to those that are online', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'sallyport-run-'));
  const id = 'env_00000000000000000000000001';
  const refusal = { error: 'not_found', error_description: `There is no environment ${id}.` };
  const service = await startService({ 'POST /v1/sessions': { status: 404, body: refusal } });
  onTestFinished(() => {
    service.close();
    rmSync(cwd, { recursive: true, force: true });
  });
  const env = environmentAt(service);
  expect(await runCli(['session', 'run', 'look', '--env', id], { cwd, env })).toEqual({
    exitCode: 4,
    stdout: '',
    stderr: `error: There is no environment ${id}.\nSee which are online: sallyport env list --online\nWithout --env the session goes to the only one of them.\n`,
  });
});

const account = { id: 'a1', email: 'ann@example.com' };
const read = testSession({ status: 'running', account });
const gone = { status: 404, body: { error: 'not_found', error_description: 'No.' } };

test.each([
  ['its address, as the record has it', { account: { id: 'a1' } }, { body: read }, account, 2],
  ['its id where the record cannot be read', { account: { id: 'a1' } }, gone, { id: 'a1' }, 2],
  ['what the service tells already', { account }, gone, account, 1],
  ['nobody where the service does not tell', {}, gone, undefined, 1],
])('--detach --json names who started it: %s', async (_, told, record, shown, requests) => {
  const cwd = mkdtempSync(join(tmpdir(), 'sallyport-run-'));
  const created = testSession({ status: 'queued', ...told });
  const service = await startService({
    'POST /v1/sessions': { body: created },
    'GET /v1/sessions/session_1': record,
  });
  onTestFinished(() => {
    service.close();
    rmSync(cwd, { recursive: true, force: true });
  });
  const args = ['session', 'run', 'look', '--env', `env_${'0'.repeat(26)}`, '--detach', '--json'];
  const { exitCode, stdout } = await runCli(args, { cwd, env: environmentAt(service) });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ ...created, ...(shown && { account: shown }) });
  expect(service.seen).toHaveLength(requests);
});

test.each([
  ['words without quotes', ['fix', 'the', 'test', '--title', 'x'], 'fix the test'],
  ['one text', ['fix  the test', '--title', 'x'], 'fix  the test'],
])('%s are the prompt', async (_, words, text) => {
  const cwd = mkdtempSync(join(tmpdir(), 'sallyport-run-'));
  const service = await startService({ 'POST /v1/sessions': { body: testSession() } });
  onTestFinished(() => {
    service.close();
    rmSync(cwd, { recursive: true, force: true });
  });
  const id = `env_${'0'.repeat(26)}`;
  const env = environmentAt(service);
  await runCli(['session', 'run', ...words, '--env', id, '--detach'], { cwd, env });
  expect(service.seen[0]?.body).toMatchObject({ title: 'x', events: [{ data: { text } }] });
});
