import { addAbortSignal, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Context } from '../context.ts';

type Input = Readable & { readonly isTTY?: boolean };

/** Reads all of stdin. On a terminal it says that it waits, and for `what`; Ctrl-C rejects with an `AbortError`. */
export async function readStdin(
  { interrupt, terminal }: Context,
  what: string,
  stdin: Input = process.stdin,
): Promise<string> {
  if (stdin.isTTY === true) terminal.note(`Reading ${what} from the terminal; Ctrl-D ends it.`);
  return text(addAbortSignal(interrupt.asked, stdin));
}
