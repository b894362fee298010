import { CommandError, exitCodes } from './exit.ts';

/** The lines of a stream as they come, without their ends; the last one may have none. Throws where one is over `maxLength`. */
export async function* lines(
  input: AsyncIterable<Uint8Array>,
  maxLength = 16 * 1024 * 1024,
): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of input) {
    const [first = '', ...more] = decoder.decode(chunk, { stream: true }).split('\n');
    rest += first;
    for (const next of more) {
      yield rest.replace(/\r$/, '');
      rest = next;
    }
    if (rest.length > maxLength)
      throw new CommandError(
        'line_too_long',
        `A line on stdin is longer than ${maxLength} characters.`,
        exitCodes.usage,
        'Send it in parts, or as bytes with --binary.',
      );
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
