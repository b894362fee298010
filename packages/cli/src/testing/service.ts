import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived; its body as JSON, a form's as an object. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** An answer; a text goes as it is, everything else as JSON. */
export interface Answer {
  readonly status?: number;
  readonly body?: unknown;
}

/** A service on a port of this machine that answers `METHOD path` as it is told, and everything else with 404. */
export async function startService(answers: Record<string, Answer | ((seen: Seen) => Answer)>) {
  const seen: Seen[] = [];
  const server = createServer((incoming, response) => {
    void incoming.toArray().then((chunks) => {
      const { method = '', url = '', headers } = incoming;
      const text = Buffer.concat(chunks as Buffer[]).toString();
      const request = { method, url, headers, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
      seen.push(request);
      const found = answers[`${method} ${url}`] ?? {
        status: 404,
        body: { error: 'not_found', error_description: 'No.' },
      };
      const { status = 200, body } = typeof found === 'function' ? found(request) : found;
      const isText = typeof body === 'string';
      response.writeHead(
        status,
        status === 204 ? {} : { 'content-type': isText ? 'text/plain' : 'application/json' },
      );
      response.end(body === undefined || isText ? body : JSON.stringify(body));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    lines: () => seen.map(({ method, url }) => `${method} ${url}`),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

export type Service = Awaited<ReturnType<typeof startService>>;
