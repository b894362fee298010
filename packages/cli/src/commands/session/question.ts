import { createInterface } from 'node:readline/promises';

/** Whether a person is there who could answer. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks the person; rejects when `signal` aborts. */
export async function question(text: string, signal: AbortSignal): Promise<string> {
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  // In raw mode readline gets Ctrl-C instead of the process.
  asking.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    return await asking.question(text, { signal });
  } finally {
    asking.close();
  }
}
