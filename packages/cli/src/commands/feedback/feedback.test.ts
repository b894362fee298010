import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCli } from '../../testing/cli.ts';
import { startService, type Service } from '../../testing/service.ts';

let cwd: string;
let service: Service;
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'sallyport-feedback-'));
  service = await startService({});
});
afterEach(() => {
  service.close();
  rmSync(cwd, { recursive: true, force: true });
});

test.each(['--bundle', '--file'])('%s must name a file that exists; else nothing is sent', async (option) => {
  const answer = await runCli(['feedback', 'it broke', option, 'typo.zip', '--yes'], {
    cwd,
    env: { SALLYPORT_BASE_URL: service.baseUrl, SALLYPORT_TOKEN: 'secret', DO_NOT_TRACK: '1' },
  });
  expect(answer).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringMatching(/^error: There is no file typo\.zip\.\n/) as string,
  });
  expect(service.seen).toEqual([]);
});

const isRoot = process.getuid?.() === 0;
test.each([
  ['a directory', 'folder', 'folder is no file.'],
  // Root reads everything.
  ...(isRoot ? [] : [['a file of others', 'closed', 'closed cannot be read by this account.']]),
])('a --file that cannot be read (%s) is refused, not left out', async (_, name = '', message = '') => {
  mkdirSync(join(cwd, 'folder'));
  writeFileSync(join(cwd, 'closed'), 'x', { mode: 0o000 });
  const { exitCode, stderr } = await runCli(['feedback', 'it broke', '--file', name, '--yes'], {
    cwd,
    env: { SALLYPORT_BASE_URL: service.baseUrl, SALLYPORT_TOKEN: 'secret', DO_NOT_TRACK: '1' },
  });
  expect(stderr).toContain(`error: ${message}`);
  expect(exitCode).toBe(2);
  expect(service.seen).toEqual([]);
});
