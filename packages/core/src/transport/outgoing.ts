import { Readable } from 'node:stream';
import type { Outgoing } from './dispatch.ts';
import type { TransportRequest } from './transport.ts';

/** A request as clients of one server take it. */
export function outgoing(request: TransportRequest, { pathname, search }: URL): Outgoing {
  const { method, headers, timeoutMs, idleMs = timeoutMs } = request;
  const fields: string[] = [];
  for (const name of Object.keys(headers)) fields.push(name, headers[name] ?? '');
  return { method, path: pathname + search, headers: fields, body: bodyOf(request.body), idleMs };
}

function bodyOf(body: TransportRequest['body']): Outgoing['body'] {
  if (body === undefined) return null;
  if (typeof body === 'function') return Readable.from(body(), { objectMode: false });
  if (typeof body === 'string') return Buffer.from(body);
  return Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}
