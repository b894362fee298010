import { createInterface } from 'node:readline/promises';
import { ServiceError } from '@sallyport/core';
import { InterruptedError } from './failure.ts';

export interface Confirmation {
  readonly name: string;
  /** What is about to happen, as a sentence. */
  readonly what: string;
  readonly kind: string;
}

/** Has a person type the name of what is to be erased for good. Throws `invalid_request` for anything else. */
export async function confirmByName(
  { name, what, kind }: Confirmation,
  input: NodeJS.ReadableStream = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Promise<void> {
  const ask = createInterface({ input, output });
  try {
    const answer = await ask.question(`${what}\nType the ${kind} to go on: `);
    if (answer.trim().toLowerCase() !== name.toLowerCase())
      throw new ServiceError('invalid_request', `That is not the ${kind}: nothing was done.`);
  } catch (cause) {
    if (!(cause instanceof Error) || cause.name !== 'AbortError') throw cause;
    // What comes next does not go on in the question's line.
    output.write('\n');
    throw new InterruptedError('Interrupted: nothing was done.', { cause });
  } finally {
    ask.close();
  }
}
