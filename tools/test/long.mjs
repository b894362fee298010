/**
 * `npm run test:long`: what needs real minutes, with the clocks and the limits that everybody has, and what shows only after
 * 100,000 tries. About a quarter of an hour.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { bin, nxEnv, root } from '../setup/install.mjs';

/** @param {string} program @param {string[]} args @param {string} folder @param {Record<string, string>} [env] */
const run = (program, args, folder, env) =>
  spawnSync(join(bin, program), args, {
    cwd: join(root, folder),
    env: { ...nxEnv(), ...env },
    stdio: 'inherit',
  }).status ?? 1;
/** @param {string} config @param {string[]} files */
const tests = (config, ...files) => ['run', '--config', config, '--root', '.', '--maxWorkers=1', ...files];

process.exitCode =
  run('nx', ['run-many', '-t', 'bundle', '--output-style=static'], '.') ||
  run('vitest', tests('../vitest.config.ts'), 'tools', { SALLYPORT_LONG_TESTS: '1' }) ||
  run('vitest', tests('../../vitest.config.ts', 'test/killed.test.ts'), 'packages/telemetry', {
    SALLYPORT_LONG: '1',
  }) ||
  run(
    'vitest',
    tests(
      '../../vitest.config.ts',
      'test/telemetry/killed.test.ts',
      'test/telemetry/fuzz.test.ts',
      'test/bridge/breaking-line.test.ts',
    ),
    'packages/gateway',
    { SALLYPORT_LONG: '1' },
  );
