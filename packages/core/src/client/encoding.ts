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
export async function encodeBody(
  endpoint: Pick<Endpoint, 'body' | 'emptyBody' | 'transport'>,
  body: unknown,
): Promise<EncodedBody | undefined> {
  if (endpoint.body === undefined) return undefined;
  if (body === undefined && endpoint.emptyBody === 'none') return undefined;
  if (endpoint.transport === 'multipart') {
    const form = new FormData();
    for (const [name, value] of Object.entries(body as Readonly<Record<string, string | Blob>>))
      form.set(name, value);
    return encodeForm(form);
  }
  const [type] = mediaTypes.json;
  return { type, content: typeof body === 'string' ? body : JSON.stringify(body ?? {}) };
}

export async function encodeForm(form: FormData): Promise<EncodedBody> {
  const encoded = new Response(form);
  return {
    type: encoded.headers.get('content-type') ?? mediaTypes.multipart[0],
    content: await encoded.bytes(),
  };
}
