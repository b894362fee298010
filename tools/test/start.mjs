import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '../setup/install.mjs';

/**
 * Whether `npm start` brings up a gateway that answers, prints its setup link, and ends with 0 on SIGTERM. Here and not among
 * the tests of Nx, because it builds, by Nx, what is not built.
 * @returns {Promise<boolean>}
 */
export async function startWorks() {
  console.log('\n> npm start -- --port 0 --print-setup');
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-start-'));
  const args = ['start', '--silent', '--', '--port', '0', '--print-setup', '--data-dir', dataDir];
  const npm = spawn('npm', args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const ended = once(npm, 'exit');
  const timer = setTimeout(() => process.kill(-Number(npm.pid), 'SIGKILL'), 180_000);
  try {
    /** @type {string[]} */
    const lines = [];
    for await (const line of createInterface({ input: npm.stdout })) {
      lines.push(line);
      if (line.includes('/setup?')) break;
    }
    const url = /^listening on (http:\S+)$/.exec(lines[0] ?? '')?.[1];
    if (url === undefined) throw new Error(`The first line is not where it listens:\n${lines.join('\n')}`);
    const answer = await fetch(`${url}/readyz`);
    if (answer.status !== 200) throw new Error(`/readyz answers ${answer.status}.`);
    process.kill(-Number(npm.pid), 'SIGTERM');
    const [code] = await ended;
    if (code !== 0) throw new Error(`It ends with ${code} after SIGTERM.`);
    return true;
  } catch (error) {
    console.error(error);
    return false;
  } finally {
    clearTimeout(timer);
    if (npm.exitCode === null && npm.signalCode === null) process.kill(-Number(npm.pid), 'SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
  }
}
