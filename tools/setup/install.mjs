import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runToEnd } from './child.mjs';
import { hold } from './one-at-a-time.mjs';

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const bin = join(root, 'node_modules/.bin');

/** The Node.js release that everything here runs under, whichever one is on the PATH. */
export const pinned = 'v' + readJson('package.json').devDependencies.node;
export const pinnedNode = join(root, 'node_modules/node/bin/node');

/** Something that the person at the keyboard can mend; `message` says how. */
export class SetupError extends Error {
  /**
   * The exit code that goes with it.
   * @returns {number}
   */
  get exitCode() {
    return this instanceof Interrupted ? 130 : 1;
  }
}

/** The person ended it. */
export class Interrupted extends SetupError {}

/** @param {string} file relative to the root */
function readJson(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

/** Whether `node_modules` holds what the lock file asks for, judged by npm's own record of the last install. */
function isInstalled() {
  try {
    const wanted = readJson('package-lock.json').packages;
    const present = readJson('node_modules/.package-lock.json').packages;
    return Object.entries(wanted).every(([path, entry]) => {
      if (!path.includes('node_modules/')) return true; // a workspace itself; its link is an entry of its own
      const found = present[path];
      if (found === undefined)
        return entry.optional === true || entry.devOptional === true || entry.peer === true;
      return found.version === entry.version && found.integrity === entry.integrity;
    });
  } catch {
    return false;
  }
}

/** The caller's environment less the pinned Node.js, which an install replaces while npm would be running on it. */
function hostEnv() {
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.endsWith('node_modules/.bin'));
  return { ...process.env, PATH: path.join(delimiter) };
}

/**
 * Installs what the lock file asks for, unless it is there. Progress goes to stderr. One process at a time: two `npm ci`
 * on one folder break each other.
 * @throws {SetupError} when npm or the pinned Node.js failed, or another process installs; `Interrupted` after a signal
 */
export async function install() {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    throw new SetupError(`Sallyport needs Node.js 20 or newer to set itself up; this is ${process.version}.`);
  }
  if (isInstalled() && existsSync(pinnedNode)) return;
  const lock = holdFolder();
  try {
    await runNpm();
    checkPinnedNode();
  } finally {
    lock.release();
  }
}

function holdFolder() {
  let lock;
  try {
    lock = hold(join(root, '.installing'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SetupError(`This folder cannot be written (${why}): make it writable, then try again.`);
  }
  if ('release' in lock) return lock;
  throw new SetupError(
    `Another installation runs (process ${lock.holder}): wait for it, then try again. ` +
      'If that process is something else, delete the file .installing here.',
  );
}

async function runNpm() {
  console.error('Installing dependencies (once; about a minute) ...');
  // Warnings are about packages that want another Node.js than npm runs on: the pinned one, which this installs.
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = await runToEnd('npm', args, { cwd: root, env: hostEnv(), stdio: ['ignore', 2, 2] });
  if (npm.interrupted)
    throw new Interrupted('The installation was interrupted: the next start begins it again.');
  if (npm.status === 0) return;
  const why = npm.error?.message ?? `npm ci ended with ${npm.signal ?? npm.status}`;
  throw new SetupError(
    `Installing the dependencies failed (${why}; npm's own words are above). ` +
      'Check that the registry is reachable (npm ping) and that this folder is writable, then try again.',
  );
}

/**
 * The lock file does not cover the binary that the `node` package fetches when it is installed.
 * @throws {SetupError} when it is missing or of another release
 */
export function checkPinnedNode() {
  const { stdout, error } = spawnSync(join(bin, 'node'), ['-v'], { encoding: 'utf8' });
  const found = error ? 'nothing' : stdout.trim();
  if (found === pinned) return;
  throw new SetupError(
    `node_modules/.bin/node should be ${pinned}, but is ${found || 'broken'}. ` +
      'The install script of the npm package "node" fetches it: run `npm rebuild node` ' +
      'with install scripts allowed (npm config get ignore-scripts must say false).',
  );
}

/** The environment of everything that runs through Nx: pinned Node.js first, no daemon, nothing leaves the machine. */
export function nxEnv() {
  return {
    ...process.env,
    PATH: bin + delimiter + (process.env.PATH ?? ''),
    CI: 'true',
    NX_DAEMON: 'false',
    NX_NO_CLOUD: 'true',
    NX_ISOLATE_PLUGINS: 'false',
  };
}
