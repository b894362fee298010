import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
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

test('a backup of a gateway that runs is a data directory of its own', async () => {
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
  const copy = join(elsewhere, 'copy');
  expect((await adminCommand(dataDir, 'backup', copy)).failed).toEqual([
    1,
    `There is no store ${dataDir}/sallyport.db: name the directory that it is in with --data-dir. The first start makes one.`,
  ]);
  await adminCommand(dataDir, 'rotate-keys');
  expect((await adminCommand(dataDir, 'backup', elsewhere)).failed).toEqual([
    1,
    `${elsewhere} is there already: give a directory that is yet to be made.`,
  ]);
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

/** A backup by a program of its own, which waits for a bundle that never comes. */
async function waitingBackup() {
  const [dataDir, elsewhere] = [scratchDirectory(), scratchDirectory()];
  await adminCommand(dataDir, 'rotate-keys');
  mkdirSync(join(dataDir, 'feedback'));
  const bundle = join(dataDir, 'feedback/fb_1.zip');
  execFileSync('mkfifo', [bundle]);
  const copy = join(elsewhere, 'copy');
  const main = join(import.meta.dirname, '../../src/main.ts');
  const args = ['-C', '@sallyport/source', main, 'admin', 'backup', copy, '--data-dir', dataDir];
  const program = spawn(process.execPath, args, { stdio: 'ignore' });
  const exited = once(program, 'exit');
  onTestFinished(() => void program.kill('SIGKILL'));
  await expect.poll(() => readdirSync(elsewhere, { recursive: true }).join()).toMatch(/feedback/);
  return {
    elsewhere,
    end: async (signal: NodeJS.Signals) => (program.kill(signal), exited),
    again: () => {
      rmSync(bundle);
      return adminCommand(dataDir, 'backup', copy);
    },
  };
}

test.each(['SIGINT', 'SIGTERM'] as const)('a backup that %s ends leaves nothing', async (signal) => {
  const { elsewhere, end } = await waitingBackup();
  expect(await end(signal)).toEqual([null, signal]);
  expect(readdirSync(elsewhere)).toEqual([]);
});

test('what a backup that was killed left goes with the next one to that place', async () => {
  const { elsewhere, end, again } = await waitingBackup();
  await end('SIGKILL');
  expect(readdirSync(elsewhere)).toEqual([expect.stringMatching(/^copy\.part-/)]);
  mkdirSync(join(elsewhere, 'copy.part-of-a-person'));
  expect((await again()).failed).toBe(undefined);
  expect(readdirSync(elsewhere).sort()).toEqual(['copy', 'copy.part-of-a-person']);
});

test('a place where no backup can be is told by its name, before anything is copied', async () => {
  const [dataDir, elsewhere] = [scratchDirectory(), scratchDirectory()];
  const link = join(elsewhere, 'link');
  symlinkSync('/nowhere', link);
  const file = join(elsewhere, 'file');
  writeFileSync(file, '');
  await adminCommand(dataDir, 'rotate-keys');
  for (const [target, why] of [
    [link, 'is there already: give a directory that is yet to be made.'],
    [join(file, 'copy'), 'cannot be made: a part of the path is no folder. '],
    [join(elsewhere, 'x'.repeat(250)), 'cannot be made: its name is too long. '],
  ] as const)
    expect((await adminCommand(dataDir, 'backup', target)).failed).toEqual([
      1,
      expect.stringMatching(new RegExp(`^${target} ${why}((?!--data-dir).)*$`)),
    ]);
  expect(readdirSync(elsewhere)).toEqual(['file', 'link']);
});

test.runIf(process.platform === 'linux')('where nobody makes anything, a backup says so', async () => {
  const dataDir = scratchDirectory();
  await adminCommand(dataDir, 'rotate-keys');
  for (const target of ['/proc/copy', '/proc/backups/copy'])
    expect((await adminCommand(dataDir, 'backup', target)).failed).toEqual([
      1,
      `${target} cannot be made: no folder can be made there. Give a directory that this user may make.`,
    ]);
});
