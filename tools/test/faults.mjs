/**
 * `npm run test:faults -- [--runs N] [--seed N]`: the main job with faults at random, N times from a seed. CI makes 100 runs.
 * A run that fails names its seed: `--runs 1 --seed THAT` makes it again.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bin, nxEnv, root } from '../setup/install.mjs';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' } },
});
const env = { ...nxEnv(), SALLYPORT_FAULT_RUNS: values.runs, SALLYPORT_FAULT_SEED: values.seed };
/** @param {string} program @param {string[]} args @param {string} cwd */
const run = (program, args, cwd) =>
  spawnSync(join(bin, program), args, { cwd, env, stdio: 'inherit' }).status ?? 1;
const tools = join(root, 'tools');
process.exitCode =
  run('nx', ['run-many', '-t', 'bundle', '--output-style=static'], root) ||
  run(
    'vitest',
    ['run', '--config', '../vitest.config.ts', '--root', '.', 'e2e/random-faults.test.ts'],
    tools,
  );
