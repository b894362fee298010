import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { printDrift } from '../../src/admin/drift.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { adminCommand, attendedCommand } from './command.ts';

test.each([
  ['user', 'role', 'owner@localhost', 'viewer'],
  ['user', 'unlock', 'owner@localhost'],
  ['user', 'remove', 'owner@localhost'],
  ['user', 'export', 'owner@localhost'],
  ['user', 'erase', 'owner@localhost', '--yes'],
  ['org', 'set', 'Default', '--tier', 'x'],
  ['org', 'delete', 'Default', '--yes'],
  ['org', 'settings', 'list', 'Default'],
  ['org', 'settings', 'set', 'Default', 'a', '1'],
  ['client', 'list'],
  ['key', 'list'],
  ['device', 'list'],
  ['login', 'list'],
  ['sign-in', 'list'],
  ['client', 'remove', 'x'],
  ['key', 'revoke', 'x'],
  ['device', 'revoke', 'x'],
  ['login', 'revoke', 'x'],
  ['sign-in', 'end', 'x'],
  ['audit'],
  ['feedback', 'list'],
  ['telemetry', 'dead-letters', 'list'],
  ['backup', '/nowhere/copy'],
])('%s says that there is no store, and makes none', async (...args) => {
  const dataDir = join(scratchDirectory(), 'typo');
  expect(await adminCommand(dataDir, ...args)).toEqual({
    stdout: '',
    failed: [1, expect.stringMatching(/^There is no store \S+typo\/sallyport\.db: .*--data-dir/)],
  });
  expect(existsSync(dataDir)).toBe(false);
});

test('drift says that there is no such directory, not that nothing departs from the contract', () => {
  const dataDir = join(scratchDirectory(), 'typo');
  expect(() => printDrift({ dataDir })).toThrow(
    `There is no directory ${dataDir}: name the one of the gateway with --data-dir.`,
  );
});

test.each([
  ['session-key'],
  ['user', 'add', 'ann@example.com'],
  ['user', 'list'],
  ['user', 'password', 'owner@localhost'],
  ['org', 'add', 'Team'],
  ['org', 'list'],
  ['client', 'add', '--name', 'App', '--redirect-uri', 'http://127.0.0.1/cb'],
  ['rotate-keys'],
])('%s may come before the first start, and says that it makes the store', async (...args) => {
  const dataDir = join(scratchDirectory(), 'new');
  let told = '';
  const made = await attendedCommand((stderr) => (told = stderr), dataDir, ...args);
  expect(made.failed).toBe(undefined);
  expect(made.stdout).not.toBe('');
  expect(told).toContain(`There is no store ${join(dataDir, 'sallyport.db')} yet: it is made now.\n`);
  told = '';
  await attendedCommand((stderr) => (told = stderr), dataDir, ...args);
  expect(told).not.toContain('no store');
});
