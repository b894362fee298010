import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runHere } from '../../testing/cli.ts';
import { environmentAt, startService } from '../../testing/service.ts';
import { testSession } from '../../testing/session.ts';

test.each([
  ['done', 0, /^session session_1 on .*\nsession done; its events can be followed no more \(No\.\)\.\n$/],
  ['failed', 1, /session failed; its events/],
  ['running', 3, /error: No\.\n/],
] as const)(
  'where events can be followed no more, the record says how a session stands: %s',
  async (...row) => {
    const [status, exitCode, told] = row;
    const cwd = mkdtempSync(join(tmpdir(), 'sallyport-record-'));
    const service = await startService(({ url }) =>
      url.includes('/events/stream')
        ? { status: 403, body: { error: 'forbidden', error_description: 'No.' } }
        : { body: testSession({ status }) },
    );
    onTestFinished(() => {
      service.close();
      rmSync(cwd, { recursive: true, force: true });
    });
    const words = ['session', 'run', 'look', '--env', `env_${'0'.repeat(26)}`];
    const ran = await runHere(words, { cwd, env: environmentAt(service) });
    expect(ran).toMatchObject({ exitCode, stderr: expect.stringMatching(told) as string });
  },
);
