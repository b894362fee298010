import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  alreadyUsed,
  failed,
  notHere,
  resultPage,
  resultPageHeaders,
  type LoginOutcome,
} from './result-page.ts';

const callbackPath = '/callback';

/** A place on this machine that waits for one redirect (RFC 8252 7.3). */
export interface LoopbackRedirect {
  /** `http://127.0.0.1:PORT/callback`, the port being the system's choice. */
  readonly redirectUri: string;
  /** Resolves with the address that the browser was sent to, query and all. */
  readonly redirected: Promise<URL>;
  /** Tells the browser how the login ended. */
  answer(outcome: LoginOutcome): Promise<void>;
  /** Frees the port, whoever is still connected; the browser of an unanswered redirect is told that the login failed. */
  close(): Promise<void>;
}

/** Listens on 127.0.0.1 only: never on a name, which may resolve elsewhere (RFC 8252 8.3). */
export async function openLoopback(): Promise<LoopbackRedirect> {
  const { promise: redirected, resolve } = Promise.withResolvers<URL>();
  let waiting: ServerResponse | undefined;
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '/', redirectUri);
    if (request.method !== 'GET' || url?.pathname !== callbackPath) return void reply(response, notHere);
    if (waiting) return void reply(response, alreadyUsed);
    waiting = response;
    resolve(url);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const redirectUri = `http://127.0.0.1:${port}${callbackPath}`;

  const answer = async (outcome: LoginOutcome) => {
    if (waiting && !waiting.writableEnded) await reply(waiting, outcome);
  };
  return {
    redirectUri,
    redirected,
    answer,
    async close() {
      await answer(failed('The login was interrupted.'));
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Resolves once the page is on its way, or the browser gone. */
function reply(response: ServerResponse, outcome: LoginOutcome): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', resolve);
    response.writeHead(outcome.status, resultPageHeaders).end(resultPage(outcome), resolve);
  });
}
