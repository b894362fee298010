/**
 * `npm start`: sets the clone up as far as needed, then runs the gateway in the foreground. Arguments go to the
 * gateway (`npm start -- --port 0`), and so does stdout: what happens before it starts is told on stderr.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from '../setup/build.mjs';
import { SetupError, install, pinned, pinnedNode, root } from '../setup/install.mjs';

try {
  await install();
  await build();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`\n${error.message}`);
  process.exit(error.exitCode);
}

const program = join(root, 'packages/gateway/bin/sallyport-gateway.js');
const args = ['start', ...process.argv.slice(2)];
if (process.version === pinned) {
  // Right here: a process of its own would cost a tenth of a second, and someone to pass the signals on.
  process.argv.splice(1, Infinity, program, ...args);
  await import(pathToFileURL(program).href);
} else {
  runUnderPinnedNode();
}

function runUnderPinnedNode() {
  const gateway = spawn(pinnedNode, [program, ...args], { stdio: 'inherit' });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the gateway itself; passed on as well it would look like a second, impatient one.
      if (signal === 'SIGINT' && process.stdin.isTTY) return;
      gateway.kill(signal);
    });
  }
  gateway.on('error', (error) => {
    console.error(`The gateway could not be started: ${error.message}`);
    process.exit(1);
  });
  gateway.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
