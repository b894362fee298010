import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createIds, silentLog, systemClock, systemRandom } from '@sallyport/core';
import { createAuthorizationServer } from '@sallyport/oauth/server';
import { createBundleFiles, createFeedbackEngine } from '@sallyport/telemetry/server';
import { expect, onTestFinished, test } from 'vitest';
import { zipOf } from '@sallyport/telemetry/testing';
import { openEmbeddedStore } from '../../src/store/embedded/store.ts';
import { scratchDirectory } from '../store/scratch.ts';

const main = join(import.meta.dirname, '../../src/main.ts');

async function admin(dataDir: string, ...args: string[]) {
  const command = [
    '--conditions=@sallyport/source',
    main,
    'admin',
    'feedback',
    ...args,
    '--data-dir',
    dataDir,
  ];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number]>,
  ]);
  return { code, stdout, stderr };
}

test('feedback that was received is listed, shown and copied', async () => {
  const dataDir = scratchDirectory();
  const store = await openEmbeddedStore({ path: join(dataDir, 'sallyport.db') });
  const engine = createFeedbackEngine({
    store: store.feedback,
    files: createBundleFiles(join(dataDir, 'feedback')),
    organizations: { isZeroDataRetention: () => Promise.resolve(false) },
    clock: systemClock,
    ids: createIds(systemClock, systemRandom),
    log: silentLog,
  });
  const bundle = zipOf({ name: 'log.txt', content: 'a line' });
  const { accounts } = await createAuthorizationServer({ store: store.oauth, issuer: 'http://127.0.0.1' });
  const { id: accountId, email } = await accounts.find();
  const receipt = await engine.receive({ accountId, organizationId: 'organization' });
  await receipt.write(bundle);
  const { feedbackId: id } = await receipt.accept({ description: 'It hangs.', fileName: 'b.zip' });

  // Beside a store that is in use.
  const listed = await admin(dataDir, 'list');
  expect(JSON.parse(listed.stdout)).toMatchObject([
    {
      ...{ id, description: 'It hangs.', bytes: bundle.length, entries: 1 },
      ...{ account_id: accountId, account_email: email },
    },
  ]);
  const output = join(dataDir, 'copy.zip');
  const shown = await admin(dataDir, 'get', id, '--output', output);
  expect(JSON.parse(shown.stdout)).toMatchObject({ id, account_email: email, bundle_path: output });
  expect(readFileSync(output).equals(bundle)).toBe(true);

  writeFileSync(output, 'mine');
  expect(await admin(dataDir, 'get', id, '--output', output)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `sallyport-gateway: ${output} is there already: give another file with --output.\n`,
  });
  expect(readFileSync(output, 'utf8')).toBe('mine');
  expect((await admin(dataDir, 'get', 'fb_none')).stderr).toContain('There is no feedback fb_none');
  expect((await admin(dataDir, 'list', '--limit', '0')).code).toBe(2);
  await store.close();
});
