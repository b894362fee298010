import { spawn } from 'node:child_process';

const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
/** How long a program that was interrupted may take to end before it is killed. */
const patienceMs = 10_000;

/**
 * Runs a program to its end. A signal to this process goes to the program with all that it started, in a group of its
 * own: npm leaves what it runs behind otherwise, and works on after the prompt is back. A second signal kills.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {Pick<import('node:child_process').SpawnOptions, 'cwd' | 'env' | 'stdio'>} options
 * @returns {Promise<{ status: number | null, signal: string | null, interrupted: boolean, error?: Error, output: string }>}
 *   when it is gone; `output` is what it wrote to pipes
 */
export function runToEnd(program, args, options) {
  let interrupted = false;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @param {NodeJS.Signals} signal */
  const send = (signal) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // All of it has just ended.
    }
  };
  /** @param {NodeJS.Signals} signal */
  const pass = (signal) => {
    send(interrupted ? 'SIGKILL' : signal);
    timer ??= setTimeout(() => send('SIGKILL'), patienceMs);
    interrupted = true;
  };
  // Before it starts: a signal at that very moment would end this process alone.
  for (const signal of signals) process.on(signal, pass);
  const child = spawn(program, args, { ...options, detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => (output += text));
  return new Promise((resolve) => {
    /** @param {{ status: number | null, signal: string | null, error?: Error }} end */
    const finish = (end) => {
      clearTimeout(timer);
      for (const signal of signals) process.off(signal, pass);
      if (interrupted) send('SIGKILL'); // what it started and did not wait for
      resolve({ ...end, interrupted, output });
    };
    child.on('error', (error) => finish({ status: null, signal: null, error }));
    child.on('close', (status, signal) => finish({ status, signal }));
  });
}
