import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('no file, export or dependency is there for nobody, and no file imports one that imports it', () => {
  const root = join(import.meta.dirname, '../..');
  const { stdout, status } = spawnSync('knip', ['--no-progress', '--treat-config-hints-as-errors'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(stdout).toBe('');
  expect(status).toBe(0);
});
