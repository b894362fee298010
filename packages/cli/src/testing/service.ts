import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived; its body as JSON, or else as the text that it was. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** An answer; a text goes as it is, everything else as JSON. */
export interface Answer {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: unknown;
}

/** How requests are answered; `undefined`: on the `response` itself, or not at all. */
export type Answering = (seen: Seen, response: ServerResponse) => Answer | undefined;

const notFound: Answer = { status: 404, body: { error: 'not_found', error_description: 'No.' } };

/** A service on a port of this machine that answers `METHOD path` as it is told, and everything else with 404. */
export async function startService(told: Record<string, Answer | ((seen: Seen) => Answer)> | Answering) {
  const answering: Answering = typeof told === 'function' ? told : (request) => among(told, request);
  const seen: Seen[] = [];
  const server = createServer((incoming, response) => {
    void incoming.toArray().then(
      (chunks) => {
        const { method = '', url = '', headers } = incoming;
        const request = { method, url, headers, body: parsed(Buffer.concat(chunks as Buffer[]).toString()) };
        seen.push(request);
        const answer = answering(request, response);
        if (answer) send(response, answer);
      },
      () => undefined, // whoever asked hung up amid it
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    seen,
    lines: () => seen.map(({ method, url }) => `${method} ${url}`),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The environment of a person who works with that service, without a login. */
export const environmentAt = ({ baseUrl }: Pick<Service, 'baseUrl'>) => ({
  SALLYPORT_BASE_URL: baseUrl,
  SALLYPORT_TOKEN: 'secret',
  SALLYPORT_ORG: '0b6f7a52-8d5e-4b5e-9d3f-000000000001',
  DO_NOT_TRACK: '1',
});

export type Service = Awaited<ReturnType<typeof startService>>;

function among(told: Record<string, Answer | ((seen: Seen) => Answer)>, request: Seen): Answer {
  const found = told[`${request.method} ${request.url}`] ?? notFound;
  return typeof found === 'function' ? found(request) : found;
}

function send(response: ServerResponse, { status = 200, headers = {}, body }: Answer): void {
  const isText = typeof body === 'string';
  const type = { 'content-type': isText ? 'text/plain' : 'application/json' };
  response.writeHead(status, { ...(status !== 204 && type), ...headers });
  response.end(body === undefined || isText ? body : JSON.stringify(body));
}

function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
