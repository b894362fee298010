import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { maxFrameBytes } from '@sallyport/bridge/server';
import { ServiceError, type Clock, type Random } from '@sallyport/core';
import { WebSocketServer } from 'ws';
import type { AcceptedSocket } from './accepted-socket.ts';
import { connectionEnded, endLater, type EndListener } from './ending.ts';
import { OpenSocket } from './open-socket.ts';

/** Handshakes a second; beyond, clients are sent away before the store is asked anything. */
const handshakesPerSecond = 200;

/**
 * The one place where connections become WebSockets. An upgrade request takes the way of any other request through the
 * routes, so that its refusals are the same HTTP answers; a route that accepts it calls `accept`.
 */
export interface UpgradeRouter {
  /** Whether the request came as an upgrade: see `upgradableIn`. */
  isUpgrade(request: IncomingMessage): boolean;
  /** Refuses with `overloaded` what comes in a storm; each client is told another time to come back. */
  checkPace(): void;
  /** Refuses with `invalid_request` what is no handshake of RFC 6455 4.2.1. */
  checkHandshake(request: IncomingMessage): void;
  /** Switches protocols and hands the socket over; `endListeners` are to be told once it is gone. */
  accept(
    request: IncomingMessage,
    requestId: string,
    open: (socket: AcceptedSocket, endListeners: readonly EndListener[]) => void,
  ): void;
  /** Hands the bare connection over, in place of an answer. */
  take(request: IncomingMessage): Taken;
  /** Takes an upgrade off the listener, to where all requests are served. */
  receive(
    request: IncomingMessage,
    connection: { readonly socket: Socket; readonly head: Buffer },
    serve: (request: IncomingMessage, response: ServerResponse) => void,
  ): void;
}

interface Taken {
  readonly socket: Socket;
  readonly head: Buffer;
  /** To be told once the connection is gone. */
  readonly endListeners: readonly EndListener[];
}

interface Pending {
  readonly socket: Socket;
  readonly head: Buffer;
  readonly response: ServerResponse;
}

const ignore = () => undefined;

export function createUpgradeRouter({
  clock,
  random,
}: {
  readonly clock: Clock;
  readonly random: Random;
}): UpgradeRouter {
  const server = new WebSocketServer<typeof OpenSocket>({
    WebSocket: OpenSocket,
    noServer: true,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    clientTracking: false,
  });
  const pending = new WeakMap<IncomingMessage, Pending>();
  const requestIds = new WeakMap<IncomingMessage, string>();
  server.on('headers', (lines, request) => lines.push(`request-id: ${requestIds.get(request) ?? ''}`));
  let second = { began: clock.monotonic(), handshakes: 0 };

  function take(request: IncomingMessage): Taken {
    const upgrade = pending.get(request);
    if (upgrade === undefined) throw new Error('The request is no upgrade.');
    const { socket, head, response } = upgrade;
    pending.delete(request);
    response.detachSocket(socket);
    return { socket, head, endListeners: endLater(response) };
  }

  return {
    take,
    isUpgrade: (request) => pending.has(request),

    checkPace() {
      const now = clock.monotonic();
      if (now - second.began >= 1000) second = { began: now, handshakes: 0 };
      if (++second.handshakes > handshakesPerSecond)
        throw new ServiceError('overloaded', 'Too many connections at once.', {
          retryAfterMs: 1000 + random.fraction() * 9000,
        });
    },

    checkHandshake({ headers }) {
      const key = headers['sec-websocket-key'] ?? '';
      if (headers['sec-websocket-version'] !== '13' || !/^[+/0-9A-Za-z]{22}==$/.test(key))
        throw new ServiceError(
          'invalid_request',
          'The WebSocket handshake is not one of RFC 6455, version 13.',
        );
    },

    accept(request, requestId, open) {
      const { socket, head, endListeners } = take(request);
      // The caller has just left: ws would drop it without a word.
      if (!socket.readable || !socket.writable) {
        socket.destroy();
        return connectionEnded(endListeners);
      }
      // The service speaks no subprotocol; a malformed list would make ws answer on its own, in HTML.
      delete request.headers['sec-websocket-protocol'];
      requestIds.set(request, requestId);
      server.handleUpgrade(request, socket, head, (webSocket) => {
        // A frame that is too big or malformed: ws closes with 1009, 1002 or 1007 by itself.
        webSocket.on('error', ignore);
        webSocket.connection = socket;
        open(webSocket, endListeners);
      });
    },

    receive(request, { socket, head }, serve) {
      const response = new ServerResponse(request);
      response.shouldKeepAlive = false; // the HTTP parser has let go of the connection
      response.assignSocket(socket);
      response.once('finish', () => socket.destroySoon());
      pending.set(request, { socket, head, response });
      serve(request, response);
    },
  };
}
