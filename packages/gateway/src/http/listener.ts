import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Pipelining } from './pipelining.ts';

type Serve = (request: IncomingMessage, response: ServerResponse) => unknown;
type Upgrade = (request: IncomingMessage, socket: Socket, head: Buffer) => unknown;

/** What the requests of a port come to. */
export interface Serving {
  readonly serve: Serve;
  readonly upgrade: Upgrade;
  /** Answers what is not HTTP that can be read. */
  readonly clientError: (error: NodeJS.ErrnoException, socket: Socket) => void;
  /** Only such requests are upgraded; all others are served as HTTP whatever their `Upgrade` header says. */
  readonly upgradable: (request: IncomingMessage) => boolean;
}

/** A bound port whose requests wait until there is something to serve them: its address is known before the app is made. */
export interface Listener {
  readonly server: Server;
  /** The port that was bound: the one asked for, or the one that the system chose for 0. */
  readonly port: number;
  /** Serves what waits and what comes; called again, what comes from then on. */
  open(serving: Serving): void;
  /** Stops accepting; what still waits to be served is cut off. Settles when the last connection has ended. */
  close(): Promise<void>;
}

/** Longer than the 60 s of common proxies, so that they close first. */
export const keepAliveSeconds = 72;

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Until there is something to serve: see `Serving`. */
  readonly upgradable: Serving['upgradable'];
}

/** Binds the port. Rejects with Node's error (`EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`, ...). */
export async function listen({ host, port, ...options }: ListenOptions): Promise<Listener> {
  const held: { readonly socket: Socket; readonly release: () => void }[] = [];
  let serve: Serve = (request, response) =>
    held.push({ socket: request.socket, release: () => serve(request, response) });
  let { upgradable } = options;
  let clientError: Serving['clientError'] = (_error, socket) => socket.destroy();
  let upgrade: Upgrade = (request, socket, head) =>
    held.push({ socket, release: () => upgrade(request, socket, head) });
  const pipelining = new Pipelining();
  const server = createServer(
    {
      requestTimeout: 300_000, // a feedback bundle of 50 MiB over a slow line
      requireHostHeader: false, // refused by the app, in the service's shape
      keepAliveTimeout: keepAliveSeconds * 1000,
      // A caller that is gone without a word would hold a silent stream, and what it has upstream, for good.
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      shouldUpgradeCallback: (request) => upgradable(request),
    },
    (request, response) => {
      if (pipelining.admits(request, response)) serve(request, response);
    },
  );
  server.on('clientError', (error, socket) => clientError(error, socket as never));
  // Expectations are optional to heed (RFC 9110 10.1.1); Node's own 417 has no body.
  server.on('checkExpectation', (request, response) => serve(request, response));
  // `100 Continue` when the body is first read: a request that is refused before that need not send it (RFC 9110 10.1.1).
  server.on('checkContinue', (request, response) => {
    const read = request._read.bind(request);
    request._read = (size) => {
      request._read = read;
      if (!response.headersSent) response.writeContinue();
      read(size);
    };
    serve(request, response);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // From the first tick: an ECONNRESET without a listener would end the process.
    socket.on('error', destroy);
    upgrade(request, socket, head);
  });
  server.listen({ host, port });
  await once(server, 'listening');
  // A connection that could not be accepted, as without file descriptors: whoever it was of comes again.
  server.on('error', () => undefined);
  return {
    server,
    port: (server.address() as AddressInfo).port,
    open(serving) {
      ({ serve, upgrade, clientError, upgradable } = serving);
      for (const { socket, release } of held.splice(0)) if (!socket.destroyed) release();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        for (const { socket } of held.splice(0)) socket.destroy();
      }),
  };
}

function destroy(this: Socket): void {
  this.destroy();
}
