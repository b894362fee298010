import { createInterface } from 'node:readline/promises';
import type { Context } from '../context.ts';
import { CommandError, exitCodes } from './exit.ts';

/** Asks before what cannot be undone; anything but `y` is a no. Where nobody can be asked, `--yes` is needed. */
export async function confirm({ interrupt }: Context, question: string): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CommandError(
      'confirmation_required',
      'There is no terminal to ask for confirmation.',
      exitCodes.usage,
      'Say --yes to go on without a question.',
    );
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  // In raw mode readline gets Ctrl-C instead of the process.
  asking.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    const answer = await asking.question(`${question} [y/N] `, { signal: interrupt.asked });
    if (/^y(es)?$/i.test(answer.trim())) return;
  } finally {
    asking.close();
  }
  throw new CommandError('declined', 'Nothing was done.', exitCodes.failed);
}
