import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway } from '../../src/start.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { adminCommand } from './command.ts';

async function gatewayOn(dataDir: string) {
  const { config } = loadConfig({ env: {}, flags: { port: 0, dataDir } });
  const gateway = await startGateway({ config });
  onTestFinished(() => gateway.close());
  return gateway;
}

const emails = async (dataDir: string) =>
  (JSON.parse((await adminCommand(dataDir, 'user', 'list')).stdout) as { email: string }[]).map(
    ({ email }) => email,
  );

test('a backup of a gateway that runs is a data directory of its own', { timeout: 60_000 }, async () => {
  const dataDir = scratchDirectory();
  const gateway = await gatewayOn(dataDir);
  const { keys } = (await (await fetch(`${gateway.url}/.well-known/jwks.json`)).json()) as { keys: unknown };
  await adminCommand(dataDir, 'user', 'add', 'ann@example.com');
  mkdirSync(join(dataDir, 'feedback/tmp'), { recursive: true });
  writeFileSync(join(dataDir, 'feedback/tmp/fb_coming'), 'half');
  writeFileSync(join(dataDir, 'feedback/fb_1.zip'), 'bundle');

  const copy = join(scratchDirectory(), 'backups/monday');
  const made = await adminCommand(dataDir, 'backup', copy);
  expect(JSON.parse(made.stdout)).toEqual({
    directory: copy,
    store_bytes: statSync(join(copy, 'sallyport.db')).size,
    feedback_bundles: 1,
  });
  expect(readFileSync(join(copy, 'feedback/fb_1.zip'), 'utf8')).toBe('bundle');
  expect(readdirSync(copy).sort()).toEqual(['feedback', 'sallyport.db']);
  expect(readdirSync(join(copy, '..'))).toEqual(['monday']);
  expect(statSync(copy).mode & 0o777).toBe(0o700);
  expect(statSync(join(copy, 'sallyport.db')).mode & 0o777).toBe(0o600);

  // What comes afterwards is not in it, and both go on by themselves.
  await adminCommand(dataDir, 'user', 'add', 'bob@example.com');
  const restored = await gatewayOn(copy);
  expect(await emails(copy)).toEqual(['owner@localhost', 'ann@example.com']);
  expect(await emails(dataDir)).toEqual(['owner@localhost', 'ann@example.com', 'bob@example.com']);
  const published = (await (await fetch(`${restored.url}/.well-known/jwks.json`)).json()) as object;
  expect(published).toEqual({ keys });
  // The bundle that the copied store knows nothing of: it might have come after the store was copied.
  expect(existsSync(join(copy, 'feedback/fb_1.zip'))).toBe(false);
});

test('a backup that cannot be made leaves nothing, and says what to do', async () => {
  const [dataDir, elsewhere] = [scratchDirectory(), scratchDirectory()];
  expect((await adminCommand(dataDir, 'backup', elsewhere)).failed).toEqual([
    1,
    `${elsewhere} is there already: give a directory that is yet to be made.`,
  ]);
  const copy = join(elsewhere, 'copy');
  expect((await adminCommand(dataDir, 'backup', copy)).failed).toEqual([
    1,
    `There is no store ${dataDir}/sallyport.db: name the directory that it is in with --data-dir.`,
  ]);
  await adminCommand(dataDir, 'user', 'list');
  const store = join(dataDir, 'sallyport.db');
  const damaged = readFileSync(store);
  damaged.fill(0xff, 4096, 3 * 4096);
  writeFileSync(store, damaged);
  expect((await adminCommand(dataDir, 'backup', copy)).failed).toEqual([
    1,
    expect.stringContaining('damaged'),
  ]);
  expect(readdirSync(elsewhere)).toEqual([]);
});

test('a place where no backup can be is told by its name, before anything is copied', async () => {
  const [dataDir, elsewhere] = [scratchDirectory(), scratchDirectory()];
  const link = join(elsewhere, 'link');
  symlinkSync('/nowhere', link);
  const file = join(elsewhere, 'file');
  writeFileSync(file, '');
  for (const [target, why] of [
    [link, 'is there already: give a directory that is yet to be made.'],
    [join(file, 'copy'), 'cannot be made: '],
    [join(elsewhere, 'x'.repeat(250)), 'cannot be made: '],
  ] as const)
    expect((await adminCommand(dataDir, 'backup', target)).failed).toEqual([
      1,
      expect.stringMatching(new RegExp(`^${target} ${why}((?!--data-dir).)*$`)),
    ]);
  expect(readdirSync(elsewhere)).toEqual(['file', 'link']);
});
