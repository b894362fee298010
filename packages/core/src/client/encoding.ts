import { mediaTypes, type Endpoint } from '../contract/endpoint.ts';
import type { TransportRequest } from '../transport/transport.ts';

/** A body as it goes over the wire. */
export interface EncodedBody {
  readonly type: string;
  readonly content: NonNullable<TransportRequest['body']>;
  /** Of a stream, where they are known beforehand: then it is sent with its length, not in chunks. */
  readonly bytes?: number;
}

/**
 * Encodes what a caller gives for a row's body: the members of a form for a multipart row (a `Blob` or `File` becomes a
 * file), else JSON; a text is JSON already.
 */
export async function encodeBody(endpoint: Endpoint, body: unknown): Promise<EncodedBody | undefined> {
  if (endpoint.body === undefined) return undefined;
  if (body === undefined && endpoint.emptyBody === 'none') return undefined;
  if (endpoint.transport === 'multipart') return encodeForm(body as Readonly<Record<string, string | Blob>>);
  const [type] = mediaTypes.json;
  return { type, content: typeof body === 'string' ? body : JSON.stringify(body ?? {}) };
}

async function encodeForm(members: Readonly<Record<string, string | Blob>>): Promise<EncodedBody> {
  const form = new FormData();
  for (const [name, value] of Object.entries(members)) form.set(name, value);
  const encoded = new Response(form);
  return {
    type: encoded.headers.get('content-type') ?? mediaTypes.multipart[0],
    content: await encoded.bytes(),
  };
}
