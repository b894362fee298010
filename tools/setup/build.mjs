import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runToEnd } from './child.mjs';
import { Interrupted, SetupError, bin, nxEnv, root } from './install.mjs';

const packages = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name));
const stamp = join(root, 'packages/gateway/dist/.built-from');

/** Names, sizes and times of everything a build reads: enough to notice an edit, a removal and a checkout. */
function sourceState() {
  const files = packages.flatMap((folder) => [
    ...['package.json', 'tsconfig.lib.json'].map((file) => join(folder, file)),
    ...readdirSync(join(folder, 'src'), { recursive: true }).map((file) => join(folder, 'src', String(file))),
  ]);
  const hash = createHash('sha256');
  for (const file of [...files.sort(), join(root, 'tsconfig.base.json'), join(root, 'package-lock.json')]) {
    const { mtimeNs, size } = statSync(file, { bigint: true });
    hash.update(`${file} ${mtimeNs} ${size}\n`);
  }
  return hash.digest('hex');
}

/**
 * Builds every package, unless `dist` already is what the sources say. Looking costs milliseconds; Nx starts only
 * when something changed.
 * @throws {SetupError} when the build failed; `Interrupted` after a signal
 */
export async function build() {
  const state = sourceState();
  const built = packages.every((folder) => existsSync(join(folder, 'dist/index.js')));
  if (built && existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return;
  console.error('Building (after a change; about half a minute the first time) ...');
  const nx = await runToEnd(join(bin, 'nx'), ['run-many', '-t', 'build', 'bundle', '--output-style=static'], {
    cwd: root,
    env: nxEnv(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (nx.interrupted) throw new Interrupted('The build was interrupted: the next start begins it again.');
  if (nx.status !== 0) {
    console.error(nx.output || nx.error?.message);
    throw new SetupError('The build failed: the errors above name the files. Mend them and start again.');
  }
  writeFileSync(stamp, state);
}
