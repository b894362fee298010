import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// Through Nx, as `npm test` lints: bare ESLint has no project graph, and then skips the rule and succeeds.
// In a copy with empty packages, so that other tasks never see the forbidden imports.
const root = join(import.meta.dirname, '../..');
const packages = readdirSync(join(root, 'packages'));

const layers = /^@nx\/enforce-module-boundaries: A project tagged with "layer:/;
const undeclared = /^@nx\/enforce-module-boundaries: Only packages defined in the "package.json"/;
const path = /^@nx\/enforce-module-boundaries: Projects cannot be imported by a relative or absolute path/;
const door = /^no-restricted-imports: .* a door that/;
const testDoor = /^no-restricted-imports: .* testing door/;

const forbidden = [
  { from: 'core', source: '@sallyport/oauth', why: layers },
  { from: 'oauth', source: '@sallyport/bridge', why: layers },
  { from: 'cli', source: '@sallyport/gateway', why: layers },
  { from: 'oauth', source: 'zod', why: undeclared },
  { from: 'cli', source: '../../core/src/index.ts', why: path },
  { from: 'cli', source: '@sallyport/core/src/index.ts', why: door },
  { from: 'cli', source: '@sallyport/core/testing', why: testDoor },
];
const lawful = [
  { from: 'telemetry', source: '@sallyport/core' },
  { from: 'cli', source: '@sallyport/bridge' },
];
const imports = [...forbidden, ...lawful];

/** The file, in its package, of one of the imports above. */
const fileOf = (source: string) => `import-${imports.findIndex((one) => one.source === source)}.ts`;

const quietNx = { NX_DAEMON: 'false', NX_NO_CLOUD: 'true', NX_ISOLATE_PLUGINS: 'false' };

let workspace: string;
let output: string;

function write(file: string, text: string) {
  mkdirSync(dirname(join(workspace, file)), { recursive: true });
  writeFileSync(join(workspace, file), text);
}

function readManifest(folder: string): object {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as object;
}

/** What ESLint says of the file with that import, each as `rule: message`. */
function complaints(from: string, source: string): string[] {
  const report = JSON.parse(readFileSync(join(workspace, 'packages', from, 'lint.json'), 'utf8')) as {
    filePath: string;
    messages: { ruleId: string | null; message: string }[];
  }[];
  const entry = report.find(({ filePath }) => filePath.endsWith(`/${fileOf(source)}`));
  if (entry === undefined) throw new Error(`${from} was not linted:\n${output}`);
  return entry.messages.map(({ ruleId, message }) => `${ruleId ?? 'error'}: ${message}`);
}

beforeAll(() => {
  workspace = mkdtempSync(join(tmpdir(), 'sallyport-boundaries-'));
  for (const file of [
    'nx.json',
    'tsconfig.base.json',
    'eslint.config.mjs',
    'package-lock.json',
    'tools/lint',
  ]) {
    cpSync(join(root, file), join(workspace, file), { recursive: true });
  }
  write('package.json', JSON.stringify({ ...readManifest('.'), workspaces: ['packages/*'] }));
  for (const name of packages) {
    const folder = join('packages', name);
    for (const file of ['tsconfig.json', 'tsconfig.lib.json', 'tsconfig.spec.json']) {
      cpSync(join(root, folder, file), join(workspace, folder, file));
    }
    // Without dependencies: a cycle with one of them would be reported in place of the layer.
    write(join(folder, 'package.json'), JSON.stringify({ ...readManifest(folder), dependencies: {} }));
    write(join(folder, 'src/index.ts'), 'export const here = 1;\n');
  }
  for (const { from, source } of imports) {
    const text = `import * as it from '${source}';\n\nexport const used = it;\n`;
    write(join('packages', from, 'src', fileOf(source)), text);
  }
  mkdirSync(join(workspace, 'node_modules/@sallyport'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name === '@sallyport') continue;
    symlinkSync(join(root, 'node_modules', name), join(workspace, 'node_modules', name));
  }
  for (const name of packages) {
    symlinkSync(join(workspace, 'packages', name), join(workspace, 'node_modules/@sallyport', name));
  }

  const projects = [...new Set(imports.map(({ from }) => from))].join();
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('NX_'));
  const nx = spawnSync(
    join(root, 'node_modules/.bin/nx'),
    ['run-many', '-t', 'lint', '-p', projects, '--skip-nx-cache', '--format=json', '--output-file=lint.json'],
    { cwd: workspace, encoding: 'utf8', env: { ...Object.fromEntries(inherited), ...quietNx } },
  );
  output = nx.stdout + nx.stderr;
}, 120_000);

afterAll(() => {
  rmSync(workspace, { recursive: true, force: true });
});

describe('module boundaries, linted through Nx', () => {
  test.each(forbidden)('$from must not import $source', ({ from, source, why }) => {
    expect(complaints(from, source)).toContainEqual(expect.stringMatching(why));
  });

  test.each(lawful)('$from may import $source', ({ from, source }) => {
    expect(complaints(from, source)).toEqual([]);
  });

  test('the rule is never skipped', () => {
    expect(output).not.toContain('rule will be skipped');
  });
});
