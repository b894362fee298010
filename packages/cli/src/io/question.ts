import { createInterface } from 'node:readline/promises';
import { setImmediate } from 'node:timers/promises';
import { hangUp } from './interrupt.ts';

/** Whether a person is there who could answer. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks the person; rejects when `signal` aborts. What was typed before the question was there is no answer to it. */
export async function question(text: string, signal: AbortSignal): Promise<string> {
  const { stdin } = process;
  // A terminal has no end, unless it is gone. Each listener once, however often somebody is asked.
  for (const event of ['end', 'error']) stdin.off(event, hangUp).on(event, hangUp);
  await forgetTyped(stdin);
  const asking = createInterface({ input: stdin, output: process.stderr });
  asking.on('error', hangUp);
  // In raw mode readline gets Ctrl-C instead of the process.
  asking.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    return await asking.question(text, { signal });
  } catch (error) {
    // What comes next does not go on in the question's line.
    process.stderr.write('\n');
    throw error;
  } finally {
    asking.close();
  }
}

async function forgetTyped(stdin: NodeJS.ReadStream): Promise<void> {
  const forget = () => undefined;
  // A line without its end is there in raw mode only.
  stdin.setRawMode(true);
  stdin.on('data', forget);
  // A listener has it flow by itself only before it was paused for the first time, as every question leaves it.
  stdin.resume();
  // One turn to begin to read, one in which what there is comes.
  await setImmediate();
  await setImmediate();
  stdin.off('data', forget);
  stdin.pause();
}
