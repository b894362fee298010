import { addAbortSignal, type Readable } from 'node:stream';
import type { ClientSocket, SocketEnd, SocketMessage } from '@sallyport/core/client';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { lines } from '../../io/lines.ts';
import { parse } from './json.ts';

export interface Conversation {
  /** Send what comes as it comes, in binary messages; else a line is a message. */
  readonly binary: boolean;
  /** Close it when stdin ends. */
  readonly closes: boolean;
}

/** How long the other side may take to answer a goodbye after Ctrl-C. */
const patienceMs = 2_000;

/**
 * Sends what comes on stdin and prints what is said, until one side closes. With `--json` a message is a line of JSON; else
 * a text is a line, and bytes are printed as they are, but not for a person's eyes.
 */
export async function converse(
  context: Context,
  socket: ClientSocket,
  conversation: Conversation,
  stdin: Readable & { readonly isTTY?: boolean } = process.stdin,
): Promise<number> {
  const { clock, interrupt, terminal } = context;
  if (stdin.isTTY === true)
    terminal.note('Each line is sent as a message; Ctrl-D ends them, Ctrl-C closes the WebSocket.');
  const over = new AbortController();
  const drop = () => socket.drop();
  interrupt.insisted.addEventListener('abort', drop, { once: true });
  const speaking = speak(socket, addAbortSignal(over.signal, stdin), conversation);
  // What stdin fails with is told when the other side has been.
  speaking.catch(() => void socket.close());
  try {
    for await (const message of socket) print(context, message);
    over.abort();
    await speaking.catch((error: unknown) => {
      if ((error as Error).name !== 'AbortError') throw error;
    });
    return judge(await socket.ended);
  } catch (error) {
    if (!interrupt.asked.aborted) throw error;
    const late = clock.after(patienceMs, drop);
    await socket.ended;
    late.cancel();
    return exitCodes.interrupted;
  } finally {
    over.abort();
    interrupt.insisted.removeEventListener('abort', drop);
  }
}

async function speak(socket: ClientSocket, stdin: Readable, { binary, closes }: Conversation): Promise<void> {
  const messages: AsyncIterable<SocketMessage> = binary ? stdin : lines(stdin);
  for await (const message of messages) {
    try {
      await socket.send(message);
    } catch {
      // Why it is over is told by who reads it.
      return;
    }
  }
  if (closes) await socket.close();
}

function print({ terminal }: Context, message: SocketMessage): void {
  const isText = typeof message === 'string';
  if (terminal.json) {
    const data = isText ? (parse(message)?.json ?? message) : Buffer.from(message).toString('base64');
    terminal.result({ json: { type: isText ? 'text' : 'binary', data }, human: '' });
  } else if (isText) terminal.out(`${message}\n`);
  else if (terminal.isForEyes) terminal.note(`(${message.length} bytes; --json has them, or a pipe)`);
  else terminal.out(message);
}

/** RFC 6455 7.4.1; 1012 and 1013 are in IANA's registry. */
const isPassing = new Set([1001, 1012, 1013]);

function judge({ code, reason }: SocketEnd): number {
  if (code === 1000 || code === 1005) return exitCodes.done;
  const why = reason === '' ? '' : `: ${reason}`;
  throw new CommandError(
    'closed',
    `The other side closed the WebSocket with ${code}${why}.`,
    isPassing.has(code) ? exitCodes.unreachable : exitCodes.failed,
    isPassing.has(code)
      ? 'It goes away for now: run it again.'
      : 'What the code means is for the other side to say.',
  );
}
