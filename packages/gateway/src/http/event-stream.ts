import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Clock, Timer } from '@sallyport/core';
import type { SseFrame } from './handler.ts';
import { pieces } from './pieces.ts';

export interface EventStreamOptions {
  readonly clock: Clock;
  readonly headers: Readonly<Record<string, string>>;
  /** Ends the stream: `farewell` is the last comment. */
  readonly signal: AbortSignal;
  readonly farewell: () => string;
  /** A comment goes out when nothing else did for this long. */
  readonly keepAliveMs?: number;
  /** A reader that takes nothing for this long is cut off; it resumes by `Last-Event-ID`. */
  readonly stallMs?: number;
}

/**
 * Answers with server-sent events: headers at once, one frame in memory at a time, pulled only as
 * fast as the reader takes them. Settles when the stream has ended; rejects with what the frames' source threw.
 */
export async function sendEventStream(
  response: ServerResponse,
  frames: AsyncIterable<SseFrame>,
  { clock, headers, signal, farewell, keepAliveMs = 15_000, stallMs = 30_000 }: EventStreamOptions,
): Promise<void> {
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  response.write('retry: 2000\n\n');

  const iterator = frames[Symbol.asyncIterator]();
  const interrupt = interruption(signal, response);
  let keepAlive: Timer | undefined;
  try {
    for (;;) {
      keepAlive = beat();
      // Not `Promise.race` with one lasting promise: it would keep a reaction for every event of the stream.
      const next = await interrupt.orElse(iterator.next());
      keepAlive.cancel();
      if (next === undefined || next.done === true) break;
      if (!(await sent(next.value))) break;
    }
    if (signal.aborted && response.writable) response.write(`: ${farewell()}\n\n`);
  } finally {
    keepAlive?.cancel();
    interrupt.release();
    // Not awaited: a source that is stuck must not hold the connection.
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
    response.end();
  }

  function beat(): Timer {
    let timer = clock.after(keepAliveMs, act);
    function act(): void {
      response.write(': ka\n\n');
      timer = clock.after(keepAliveMs, act);
    }
    return { cancel: () => timer.cancel() };
  }

  async function sent(frame: SseFrame): Promise<boolean> {
    for (const piece of pieces(render(frame))) {
      if (!response.write(piece) && !(await drained())) return false;
      frame.taken?.();
    }
    return true;
  }

  async function drained(): Promise<boolean> {
    const stall = clock.after(stallMs, () => response.destroy());
    await interrupt.orElse(once(response, 'drain'));
    stall.cancel();
    return response.writable && !signal.aborted;
  }
}

/** `undefined` instead of what is awaited, as soon as the stream is to end or the reader is gone. */
function interruption(signal: AbortSignal, response: ServerResponse) {
  let interrupt: (() => void) | undefined;
  const over = () => signal.aborted || response.destroyed;
  const fire = () => interrupt?.();
  signal.addEventListener('abort', fire, { once: true });
  response.once('close', fire);
  return {
    orElse<T>(awaited: Promise<T>): Promise<T | undefined> {
      return new Promise((resolve, reject) => {
        interrupt = () => resolve(undefined);
        awaited.then(resolve, reject);
        if (over()) interrupt();
      });
    },
    release() {
      signal.removeEventListener('abort', fire);
      response.off('close', fire);
    },
  };
}

/** An event that goes to many readers is written out once. */
const texts = new WeakMap<object, string>();

function textOf(data: unknown): string {
  if (typeof data !== 'object' || data === null) return JSON.stringify(data);
  const known = texts.get(data);
  if (known !== undefined) return known;
  const text = JSON.stringify(data);
  texts.set(data, text);
  return text;
}

function render({ id, event, data }: SseFrame): string {
  const head =
    (id === undefined ? '' : `id: ${oneLine(id)}\n`) +
    (event === undefined ? '' : `event: ${oneLine(event)}\n`);
  return `${head}data: ${textOf(data)}\n\n`;
}

function oneLine(text: string): string {
  return text.replace(/[\r\n\0]/g, '');
}
