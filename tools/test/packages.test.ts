import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

// Runs after the build: what is looked at here is what would be published.
const root = join(import.meta.dirname, '../..');

interface Manifest {
  name: string;
  version: string;
  license: string;
  description: string;
  exports: Record<string, string | { '@sallyport/source': string; types: string; default: string }>;
  bin?: Record<string, string>;
}

const packages = readdirSync(join(root, 'packages')).map((name) => {
  const folder = join(root, 'packages', name);
  return {
    name,
    folder,
    manifest: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest,
  };
});
const versions = new Set(packages.map(({ manifest }) => manifest.version));

describe.each(packages)('package $name', ({ name, folder, manifest }) => {
  test('has the common silhouette', () => {
    expect(manifest).toMatchObject({ name: `@sallyport/${name}`, license: 'Apache-2.0', type: 'module' });
    expect(manifest.description).not.toBe('');
    expect([...versions]).toEqual([manifest.version]);
    expect(existsSync(join(folder, 'README.md')), 'README.md').toBe(true);
  });

  test('names its files in kebab-case', () => {
    const files = readdirSync(join(folder, 'src'), { recursive: true }).map(String);
    expect(files.filter((file) => !/^[a-z0-9/.-]+$/.test(file))).toEqual([]);
  });

  test('offers doors that exist, as source and built', () => {
    const targets = Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [target] : Object.values(target),
    );
    expect(targets.filter((target) => !existsSync(join(folder, target)))).toEqual([]);
  });

  test('opens its built doors under plain Node.js', () => {
    const doors = Object.keys(manifest.exports).filter((door) => !door.endsWith('.json'));
    const script = doors.map((door) => `await import('${manifest.name}${door.slice(1)}');`).join('\n');
    const args = ['--input-type=module', '--eval', script];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });

  test('has commands that Node.js can load', () => {
    for (const command of Object.values(manifest.bin ?? {})) {
      expect(readFileSync(join(folder, command), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
      expect(existsSync(join(folder, 'bundle/main.js')), 'bundle/main.js').toBe(true);
    }
  });
});
