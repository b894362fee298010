import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { closeCodes } from '@sallyport/bridge/server';
import type { Drain, OpenStream } from '../http/drain.ts';
import { connectionEnded, type EndListener } from '../http/ending.ts';
import type { Meter } from '../metrics/traffic.ts';
import { createFrameWalk } from './frame-walk.ts';
import { responseHeaders } from './headers.ts';

/** The caller's side of a connection that switches protocols. */
export interface UpgradedConnection {
  readonly socket: Socket;
  /** What the caller has sent already. */
  readonly head: Buffer;
  /** To be told once the connection is gone. */
  readonly endListeners: readonly EndListener[];
}

/**
 * Has a caller noticed who leaves before protocols are switched: a connection that nobody reads from does not tell. Nothing
 * is taken from it. Ends with the function that is returned.
 */
export function watchForEnd(socket: Socket): () => void {
  const look = () => void socket.read(0);
  const leave = () => socket.destroy();
  socket.on('readable', look).once('end', leave);
  return () => socket.off('readable', look).off('end', leave);
}

/**
 * Tells the caller that protocols are switched, in the upstream's words, and joins both connections byte for byte: what was
 * agreed on (subprotocols, extensions) and how it ends (close codes) is between the two. Only a drain says something of its
 * own: 1012, between two frames of the upstream.
 */
export function splice(
  { socket: caller, head, endListeners }: UpgradedConnection,
  upstream: Duplex,
  options: {
    readonly raw: readonly string[];
    readonly requestId: string;
    readonly drain: Drain;
    readonly meter: Meter;
  },
): void {
  caller.write(switchingProtocols(options.raw, options.requestId), 'latin1');
  caller.setNoDelay(true);
  caller.setTimeout(0);
  if (head.length > 0) upstream.write(head);

  const frames = createFrameWalk();
  let isEnding = false;
  let isClosed = false;
  const sayGoodbye = () => {
    isClosed = true;
    caller.write(closeFrame(closeCodes.serviceRestart));
  };

  upstream.on('data', (chunk: Buffer) => {
    if (isClosed) return;
    const end = isEnding ? frames.walk(chunk) : (frames.walk(chunk), chunk.length);
    const flows = caller.write(end === chunk.length ? chunk : chunk.subarray(0, end));
    if (isEnding && (end < chunk.length || frames.isBetween)) return sayGoodbye();
    if (!flows) {
      upstream.pause();
      caller.once('drain', () => upstream.resume());
    }
  });
  upstream.once('end', () => caller.end()).resume();
  caller.pipe(upstream);
  const before = { read: caller.bytesRead - head.length, written: caller.bytesWritten };

  const stream: OpenStream = {
    end() {
      if (isEnding) return;
      isEnding = true;
      // The caller's close frame goes on to the upstream, which then hangs up.
      if (frames.isBetween) sayGoodbye();
    },
    terminate: () => caller.destroy(),
  };
  options.drain.add(stream);
  // Not `end`: a side that is gone answers nothing, and would keep the other's socket for good.
  upstream.once('close', () => caller.destroySoon());
  caller.once('close', () => {
    options.drain.remove(stream);
    options.meter.receivedBytes += caller.bytesRead - before.read;
    options.meter.sentBytes += caller.bytesWritten - before.written;
    upstream.destroy();
    connectionEnded(endListeners);
  });
}

function switchingProtocols(raw: readonly string[], requestId: string): string {
  const { list } = responseHeaders(raw, requestId);
  let head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
  for (let i = 0; i < list.length; i += 2) head += `${list[i] ?? ''}: ${list[i + 1] ?? ''}\r\n`;
  return `${head}\r\n`;
}

function closeFrame(code: number): Buffer {
  return Buffer.from([0x88, 2, code >> 8, code & 0xff]);
}
