import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

test.each([
  ['cli', 'sallyport'],
  ['gateway', 'sallyport-gateway'],
])('in a clone that is not built, the program of %s says how to build it', (packageName, name) => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-unbuilt-'));
  try {
    const program = join(folder, 'bin', `${name}.js`);
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    copyFileSync(join(root, 'packages', packageName, 'bin', `${name}.js`), program);
    const { status, stderr } = spawnSync(process.execPath, [program, '--version'], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([
      1,
      'This clone is not built: run npm start -- --help in it, which builds it.\n',
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
