import type { SocketListener, StreamSocket } from '@sallyport/bridge/server';
import type { RawData, WebSocket } from 'ws';

/** A `ws` socket as the engine's port. */
export function toStreamSocket(socket: WebSocket): StreamSocket {
  return {
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    send: (text, sent) => socket.send(text, () => sent()),
    ping: () => socket.ping(),
    close: (code, reason) => socket.close(code, reason),
    terminate: () => socket.terminate(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    listen(listener: SocketListener) {
      socket.on('message', (data: RawData, isBinary: boolean) =>
        listener.message(isBinary ? undefined : textOf(data)),
      );
      socket.on('pong', () => listener.pong());
      socket.once('close', () => listener.closed());
    },
  };
}

function textOf(data: RawData): string {
  if (Buffer.isBuffer(data)) return data.toString();
  return Array.isArray(data) ? Buffer.concat(data).toString() : Buffer.from(data).toString();
}
