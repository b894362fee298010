import type { Context } from '../context.ts';
import { CommandError, exitCodes } from '../io/exit.ts';
import { readStdin } from '../io/stdin.ts';

/** The text that a command is given as words, or on stdin where they are `-`. Throws `empty_prompt` and the like. */
export async function textArgument(
  context: Context,
  words: readonly string[],
  { what, nextStep }: { readonly what: 'prompt' | 'message' | 'description'; readonly nextStep: string },
): Promise<string> {
  const argument = words.join(' ');
  const text = argument === '-' ? await readStdin(context, `the ${what}`) : argument;
  if (text.trim() !== '') return text;
  throw new CommandError(`empty_${what}`, `The ${what} is empty.`, exitCodes.usage, nextStep);
}
