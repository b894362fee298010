// What starting costs beside bare Node.js: `node -C @sallyport/source tools/bench/startup.ts`. Prints Markdown tables.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binDir } from '../e2e/installation.ts';
import { printTable, sideBySide, type Way } from './timing.ts';

const rounds = Number(process.argv[2] ?? 20);
const folder = mkdtempSync(join(tmpdir(), 'sallyport-bench-'));
const env = {
  ...process.env,
  SALLYPORT_CONFIG_DIR: join(folder, 'config'),
  SALLYPORT_DATA_DIR: join(folder, 'data'),
  SALLYPORT_PORT: '0',
};

/** Until the program has ended. */
function run(command: string, ...args: string[]): () => Promise<number> {
  return async () => {
    const from = performance.now();
    const child = spawn(command, args, { env, stdio: 'ignore' });
    await once(child, 'exit');
    return performance.now() - from;
  };
}

/** Until the gateway says that it listens. */
async function listening(): Promise<number> {
  const from = performance.now();
  const child = spawn(join(binDir, 'sallyport-gateway'), [], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  if (!line.toString().startsWith('listening on')) throw new Error(`The gateway says ${line.toString()}`);
  const ms = performance.now() - from;
  child.kill('SIGTERM');
  await once(child, 'exit');
  return ms;
}

const ways: readonly Way[] = [
  { name: '`node -e 0`', once: run(process.execPath, '-e', '0') },
  { name: '`sallyport --version`', once: run(join(binDir, 'sallyport'), '--version') },
  { name: '`sallyport --help`', once: run(join(binDir, 'sallyport'), '--help') },
  { name: '`sallyport-gateway`, until it listens', once: listening },
];
printTable(ways, await sideBySide(ways, rounds));
rmSync(folder, { recursive: true });
