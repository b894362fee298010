import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// Runs after the build: what is looked at here is what would be published.
const root = join(import.meta.dirname, '../..');

interface Manifest {
  name: string;
  version: string;
  license: string;
  description: string;
  exports: Record<string, string | { '@sallyport/source': string; types: string; default: string }>;
  bin?: Record<string, string>;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/** The packages whose types are in these declarations, and in those that they lead to. */
function packagesIn(doors: readonly string[]): ReadonlySet<string> {
  const files = new Set(doors);
  const found = new Set<string>();
  for (const file of files)
    for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g))
      if (from.startsWith('.')) files.add(join(dirname(file), from.replace(/\.(?:ts|js)$/, '.d.ts')));
      else if (!isBuiltin(from)) found.add(from.split('/', from.startsWith('@') ? 2 : 1).join('/'));
  return found;
}

const packages = readdirSync(join(root, 'packages')).map((name) => {
  const folder = join(root, 'packages', name);
  return {
    name,
    folder,
    manifest: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest,
  };
});
const scratch = mkdtempSync(join(tmpdir(), 'sallyport-packed-'));
afterAll(() => rmSync(scratch, { recursive: true }));
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

  test('has types at its doors that need no others than those that come with it', () => {
    const doors = Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [] : join(folder, target.types),
    );
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    for (const needed of packagesIn(doors)) {
      expect(declared).toContain(needed);
      // What has its types elsewhere gets them from us, or its importer has none.
      const types = `@types/${needed.replace(/^@(.+)\//, '$1__')}`;
      if (existsSync(join(root, 'node_modules', types))) expect(declared).toContain(types);
    }
  });

  test('opens its built doors under plain Node.js', () => {
    const doors = Object.keys(manifest.exports).filter((door) => !door.endsWith('.json'));
    const script = doors.map((door) => `await import('${manifest.name}${door.slice(1)}');`).join('\n');
    const args = ['--input-type=module', '--eval', script];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });

  describe('as it is published', () => {
    let tarball: Buffer;
    beforeAll(() => {
      const packed = spawnSync('npm', ['pack', '--json', '--pack-destination', scratch], {
        cwd: folder,
        encoding: 'utf8',
      });
      const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
      tarball = readFileSync(join(scratch, filename));
    });

    test('is in order', async () => {
      const { messages } = await publint({
        pack: { tarball: Uint8Array.from(tarball).buffer },
        strict: true,
      });
      expect(messages).toEqual([]);
    });

    test('has types at each of its doors, for whoever imports', async () => {
      const checked = await checkPackage(createPackageFromTarballData(tarball));
      const problems = 'problems' in checked ? checked.problems : [checked];
      // Neither for `require` nor for who knows nothing of `exports`.
      const isForOthers = (problem: object) =>
        'resolutionKind' in problem && ['node10', 'node16-cjs'].includes(String(problem.resolutionKind));
      expect(problems.filter((problem) => !isForOthers(problem))).toEqual([]);
    });
  });

  test('has commands that Node.js can load', () => {
    for (const command of Object.values(manifest.bin ?? {})) {
      expect(readFileSync(join(folder, command), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
      expect(existsSync(join(folder, 'bundle/main.js')), 'bundle/main.js').toBe(true);
    }
  });
});
