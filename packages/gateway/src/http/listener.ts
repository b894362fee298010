import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** A bound port whose requests wait until there is something to serve them: its address is known before the app is made. */
export interface Listener {
  readonly server: Server;
  /** The port that was bound: the one asked for, or the one that the system chose for 0. */
  readonly port: number;
  /** Only such requests become `upgrade` events; all others are served as HTTP whatever their `Upgrade` header says. */
  setUpgradable(test: (request: IncomingMessage) => boolean): void;
  /** Serves what waits and what comes. */
  open(serve: Serve): void;
  /** Stops accepting; settles when the last connection has ended. */
  close(): Promise<void>;
}

/** Binds the port. Rejects with Node's error (`EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`, ...). */
export async function listen(address: { readonly host: string; readonly port: number }): Promise<Listener> {
  const held: [IncomingMessage, ServerResponse][] = [];
  let serve: Serve = (request, response) => held.push([request, response]);
  let upgradable: (request: IncomingMessage) => boolean = () => false;
  const options = {
    requestTimeout: 300_000, // a feedback bundle of 50 MiB over a slow line
    requireHostHeader: false, // refused by the app, in the service's shape
    keepAliveTimeout: 72_000, // longer than the 60 s of common proxies, so that they close first
    shouldUpgradeCallback: (request: IncomingMessage) => upgradable(request),
  };
  const server = createServer(options, (request, response) => serve(request, response));
  // Expectations are optional to heed (RFC 9110 10.1.1); Node's own 417 has no body.
  server.on('checkExpectation', (request, response) => serve(request, response));
  server.listen(address);
  await once(server, 'listening');
  return {
    server,
    port: (server.address() as AddressInfo).port,
    setUpgradable(test) {
      upgradable = test;
    },
    open(handler) {
      serve = handler;
      for (const [request, response] of held.splice(0)) handler(request, response);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}
