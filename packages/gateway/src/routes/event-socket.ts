import type { SocketListener, StreamSocket } from '@sallyport/bridge/server';
import type { SseFrame } from '../http/handler.ts';

/** What a worker gets over server-sent events: the frames that a WebSocket would carry, and `close` as the last one. */
export interface EventSocket {
  readonly socket: StreamSocket;
  /** Reads until the socket is closed or the signal aborts. */
  frames(signal: AbortSignal): AsyncIterable<SseFrame>;
}

/** The engine's port over server-sent events. It hears nothing: the worker posts what it has to say. */
export function openEventSocket(): EventSocket {
  const waiting: { readonly text: string; readonly bytes: number; readonly taken: () => void }[] = [];
  let bytes = 0;
  let end: SseFrame | 'silent' | undefined;
  let listener: SocketListener | undefined;
  let wake = () => {};

  function finish(how: SseFrame | 'silent'): void {
    end ??= how;
    wake();
  }

  const socket: StreamSocket = {
    get bufferedAmount() {
      return bytes;
    },
    bytesRead: 0,
    sendText(text, taken) {
      if (end !== undefined) return;
      const size = Buffer.byteLength(text);
      waiting.push({ text, bytes: size, taken });
      bytes += size;
      wake();
    },
    close: (code, reason) => finish({ event: 'close', data: { code, reason } }),
    terminate: () => finish('silent'),
    // Comments keep the connection alive, and there is nothing to read.
    ping: () => {},
    pause: () => {},
    resume: () => {},
    listen: (given) => (listener = given),
  };

  async function* frames(signal: AbortSignal): AsyncIterable<SseFrame> {
    const stop = () => wake();
    signal.addEventListener('abort', stop, { once: true });
    try {
      while (!signal.aborted) {
        const next = waiting.shift();
        if (next !== undefined) {
          bytes -= next.bytes;
          yield { ...toSseFrame(next.text), taken: next.taken };
        } else if (end !== undefined) {
          if (end !== 'silent') yield end;
          return;
        } else {
          await new Promise<void>((resolve) => (wake = resolve));
        }
      }
    } finally {
      signal.removeEventListener('abort', stop);
      listener?.closed();
    }
  }

  return { socket, frames };
}

/** Events have the id to resume by; frames of the moment are named by their type. */
function toSseFrame(text: string): SseFrame {
  const data = JSON.parse(text) as { readonly type: string; readonly seq?: number; session_id?: string };
  return data.session_id === undefined ? { event: data.type, data } : { id: String(data.seq), data };
}
