/**
 * `npm test`: everything that must hold, on a fresh clone as on a warm one. Ends with `N passed, N failed`, to which
 * formatting, project references, each lint, typecheck and build, each test and `npm start` count one.
 * With `--ci` nothing may be skipped.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SetupError, bin, checkPinnedNode, install, nxEnv, root } from '../setup/install.mjs';
import { capabilities } from './capabilities.mjs';
import { readRun } from './results.mjs';
import { startWorks } from './start.mjs';

const { values: options } = parseArgs({ options: { ci: { type: 'boolean', default: false } } });
/** @type {string[]} */
const failed = [];
let passed = 0;

/** @param {string} name @param {boolean} ok */
function check(name, ok) {
  if (ok) passed += 1;
  else failed.push(name);
}

/** @param {string} program @param {string[]} args */
function run(program, ...args) {
  console.log(`\n> ${program} ${args.join(' ')}`);
  return spawnSync(join(bin, program), args, {
    cwd: root,
    env: nxEnv(),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

try {
  await install();
  checkPinnedNode();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`\n${error.message}\n0 passed, 1 failed`);
  process.exit(error.exitCode);
}

// Reports are outputs of the cached test tasks: Nx puts them back, so what is found afterwards is of this run.
const projects = [...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`), 'tools'];
for (const project of projects) rmSync(join(root, project, 'test-results'), { recursive: true, force: true });
rmSync(join(root, '.nx/cache/run.json'), { force: true });

check('formatting (mend it with: npx prettier --write .)', run('prettier', '--check', '.').status === 0);
check('project references (mend them with: npx nx sync)', run('nx', 'sync:check').status === 0);
const nx = run(
  'nx',
  'run-many',
  '-t',
  'lint',
  'typecheck',
  'build',
  'bundle',
  'test',
  '--output-style=static',
);

const results = readRun(root, projects, nx.status === 0);
passed += results.passed;
failed.push(...results.failed);

check('npm start', await startWorks());

if (results.skipped.length > 0) {
  const missing = Object.entries(capabilities()).filter(([, path]) => path === undefined);
  console.log(
    `\nSkipped${missing.length > 0 ? `; missing here: ${missing.map(([name]) => name).join(', ')}` : ''}`,
  );
  for (const name of results.skipped) console.log(`  ${name}`);
}
const skipped = options.ci ? 0 : results.skipped.length;
if (options.ci)
  failed.push(...results.skipped.map((name) => `skipped, and nothing may be with --ci: ${name}`));

if (failed.length > 0) console.log(`\nFailed\n${failed.map((name) => `  ${name}`).join('\n')}`);
console.log(`\n${passed} passed, ${failed.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed.length > 0 ? 1 : 0;
