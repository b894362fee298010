import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runHere } from '../testing/cli.ts';

test.each([
  ['session run', 'prompt', []],
  ['session send', 'message', ['session_1']],
  ['feedback', 'description', []],
])('%s takes no blank text', async (command, what, before) => {
  const cwd = mkdtempSync(join(tmpdir(), 'sallyport-text-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  // Before anything is asked of a gateway: here is none.
  const env = { SALLYPORT_BASE_URL: 'http://127.0.0.1:9', SALLYPORT_TOKEN: 'secret', DO_NOT_TRACK: '1' };
  for (const blank of ['', ' \n']) {
    const { exitCode, stderr } = await runHere([...command.split(' '), ...before, blank], { cwd, env });
    expect(stderr).toMatch(
      new RegExp(`^error: The ${what} is empty\\.\nSay what .*: sallyport ${command} .*\n$`),
    );
    expect(exitCode).toBe(2);
  }
});
