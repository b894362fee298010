import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { Installation } from '../e2e/installation.ts';

vi.setConfig({ testTimeout: 180_000 });

// A registration stands for 45 s without its bridge.
test('a killed bridge is itself again, at once and after its registration has lapsed', async () => {
  await using installation = new Installation();
  await installation.gateway();
  await installation.login();
  const dir = join(installation.folder, 'work');
  mkdirSync(dir);
  const start = async () => {
    const bridge = installation.sallyport(['bridge', 'run', '--dir', dir, '--exec', 'echo done']);
    const [, id = ''] = await bridge.shows(/environment (env_\w+)/i);
    await bridge.shows(/Waiting for work/);
    return { bridge, id };
  };
  const first = await start();
  await first.bridge.stop('SIGKILL');
  const second = await start();
  expect(second.id).toBe(first.id);
  await second.bridge.stop('SIGKILL');
  await setTimeout(50_000);
  const status = installation.sallyport(['--json', 'bridge', 'status', '--dir', dir]);
  await status.end();
  expect(JSON.parse(status.stdout)).toEqual([expect.objectContaining({ status: 'disconnected' })]);
  const third = await start();
  expect(third.id).toBe(first.id);

  const run = installation.sallyport(['session', 'run', 'look']); // there is but one environment online
  expect(await run.end(), run.screen).toBe(0);
  expect(run.stdout).toContain('done\n');
  expect(await third.bridge.stop('SIGINT')).toBe(0);
});
