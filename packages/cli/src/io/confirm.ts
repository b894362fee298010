import type { Context } from '../context.ts';
import { CommandError, exitCodes } from './exit.ts';
import { hasTerminal, question } from './question.ts';

/**
 * Asks before what cannot be undone; anything but `y` is a no. Where nobody can be asked, `--yes` is needed. `asked` may have to be
 * found out, which is for nothing where there is nobody.
 */
export async function confirm(
  { interrupt }: Context,
  asked: string | (() => Promise<string>),
): Promise<void> {
  if (!hasTerminal()) {
    throw new CommandError(
      'confirmation_required',
      'There is no terminal to ask for confirmation.',
      exitCodes.usage,
      'Say --yes to go on without a question.',
    );
  }
  const text = typeof asked === 'string' ? asked : await asked();
  const answer = await question(`${text} [y/N] `, interrupt.asked);
  if (/^y(es)?$/i.test(answer.trim())) return;
  throw new CommandError('declined', 'Nothing was done.', exitCodes.failed, undefined);
}
