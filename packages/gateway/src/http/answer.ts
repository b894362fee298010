import { mediaTypes, type Endpoint } from '@sallyport/core/contract';
import type { FastifyReply } from 'fastify';

/** Sends what a handler gave back, in the form of its row; `undefined` is no body. */
export function sendAnswer(endpoint: Endpoint, reply: FastifyReply, result: unknown): void {
  if (reply.sent) return;
  if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  if (endpoint.area === 'oauth' && endpoint.method === 'POST') reply.header('pragma', 'no-cache'); // RFC 6749 5.1
  // A status of the handler's own (302) stands.
  if (reply.statusCode === 200) reply.code(statusFor(endpoint, result));
  if (endpoint.transport === 'sse') {
    reply.type('text/event-stream; charset=utf-8').send('');
  } else if (result === undefined) {
    reply.removeHeader('content-type').send();
  } else if (result instanceof Uint8Array) {
    reply.type(mediaTypes.protobuf[0]).send(result);
  } else if (typeof result === 'string' && endpoint.transport !== 'json') {
    const type = endpoint.transport === 'page' ? 'text/html' : 'text/plain';
    if (!reply.hasHeader('content-type')) reply.type(`${type}; charset=utf-8`);
    reply.send(result);
  } else {
    if (!reply.hasHeader('content-type')) reply.type('application/json; charset=utf-8');
    // As text: Fastify would send nothing for `null`, which says that no work waits.
    reply.send(JSON.stringify(result));
  }
}

/** The row's first success status that has a body, or has none, as the result does. */
function statusFor({ responses }: Endpoint, result: unknown): number {
  for (const status in responses) {
    const hasNoBody = responses[status as unknown as keyof typeof responses] === null;
    if (status < '300' && hasNoBody === (result === undefined)) return Number(status);
  }
  return 200;
}
