import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** JSON as it goes out, with its entity tag (RFC 9110 8.8.3). */
export interface Document {
  readonly json: string;
  readonly etag: string;
}

export const documentType = 'application/json; charset=utf-8';

export function toDocument(value: object): Document {
  const json = JSON.stringify(value);
  return { json, etag: `"${createHash('sha256').update(json).digest('base64url').slice(0, 22)}"` };
}

/** Sends a document, or 304 to whoever has it. `headers` go with both. */
export function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  { json, etag }: Document,
  headers: Readonly<Record<string, string>>,
): void {
  reply.headers({ ...headers, etag });
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.includes(etag) || known?.includes('*')) void reply.code(304).send();
  else void reply.type(documentType).send(json);
}
