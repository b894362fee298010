import { createInterface } from 'node:readline/promises';
import { ServiceError } from '@sallyport/core';

/** Has a person type the name of what is to be erased for good. Throws `invalid_request` for anything else. */
export async function confirmByName({
  name,
  what,
  kind,
}: {
  readonly name: string;
  /** What is about to happen, as a sentence. */
  readonly what: string;
  readonly kind: string;
}): Promise<void> {
  const ask = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await ask.question(`${what}\nType the ${kind} to go on: `);
    if (answer.trim().toLowerCase() !== name.toLowerCase())
      throw new ServiceError('invalid_request', `That is not the ${kind}: nothing was erased.`);
  } finally {
    ask.close();
  }
}
