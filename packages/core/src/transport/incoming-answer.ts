import type { IncomingMessage } from 'node:http';
import { readText } from './body.ts';
import type { TransportResponse } from './transport.ts';

const idleMs = 10_000;

/** An answer of Node's own HTTP client, such as a WebSocket that is refused gets. */
export function incomingAnswer(response: IncomingMessage): TransportResponse {
  const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const);
  return {
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(headers),
    text: (maxBytes) => readText(response, { maxBytes, idleMs }),
    stream: () => response,
  };
}
