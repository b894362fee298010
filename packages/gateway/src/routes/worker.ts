import {
  resumeFrom,
  type BridgeEngine,
  type SocketListener,
  type StreamSocket,
} from '@sallyport/bridge/server';
import type { RawData, WebSocket } from 'ws';
import type { Handlers } from '../http/handler.ts';
import { toBridgeCaller } from './bridge.ts';

/** The worker's handshake and stream on the bridge engine. */
export function workerHandlers({ worker }: BridgeEngine): Handlers['worker'] {
  return {
    bridge: ({ caller, headers, params }) =>
      worker.takeOver(toBridgeCaller(caller, headers['vendor-worker-id']), params.id, {
        workerToken: headers['x-worker-token'],
      }),

    register: ({ caller, params }) => worker.register(caller, params.id),

    async stream({ caller, headers, params, query }) {
      const from = resumeFrom(query.from_seq, headers['last-event-id']);
      const attach = await worker.open(caller, params.id, { from });
      return (socket) => attach(toStreamSocket(socket));
    },
  };
}

/** A `ws` socket as the engine's port. */
function toStreamSocket(socket: WebSocket): StreamSocket {
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
