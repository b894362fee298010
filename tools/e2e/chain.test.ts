import { join } from 'node:path';
import { freePort } from '@sallyport/core/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { binDir, Installation } from './installation.ts';
import type { Program } from './process.ts';

// The main job with a gateway in front of the gateway: nobody who calls should notice.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let installation: Installation;
let front: Program;
beforeAll(async () => {
  installation = new Installation();
  const gateway = join(binDir, 'sallyport-gateway');
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const back = installation.run(gateway, ['start', '--public-url', publicUrl]);
  const [, upstream = ''] = await back.shows(/^listening on (http:\S+)$/m);
  front = installation.run(gateway, ['start', '--upstream', upstream, '--port', String(port)], {
    env: { SALLYPORT_DATA_DIR: join(installation.folder, 'front') },
  });
  await front.shows(/^listening on /m);
  installation.baseUrl = publicUrl;
  await installation.login();
});
afterAll(() => installation[Symbol.asyncDispose]());

test('a session runs through both', async () => {
  const bridge = installation.sallyport([
    'bridge',
    'run',
    '--exec',
    'printf "%s\\n" one two; exit 0',
    '--dir',
    installation.folder,
  ]);
  await bridge.shows(/Waiting for work/);
  const run = installation.sallyport(['session', 'run', 'look']);
  await run.end();
  expect(run.stdout, run.screen).toMatch(/one\ntwo\n/);

  // The bridge's WebSocket is open: the gateway in front closes it, and ends by itself.
  expect(await front.stop('SIGTERM')).toBe(0);
  expect(await bridge.stop('SIGINT')).toBe(0);
});
