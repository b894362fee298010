import type { IncomingMessage } from 'node:http';
import { headerNames, type Endpoint, type Row } from '@sallyport/core/contract';
import type { Meter } from '../metrics/traffic.ts';
import type { Direct } from './direct-routes.ts';
import type { DirectWay } from './direct-way.ts';
import { documentType, type Document } from './document.ts';
import type { Drain } from './drain.ts';
import { isWholeWritable, writeWhole } from './whole-answer.ts';

/** What anybody may read, any page too. The same object as long as it says the same. */
export type PublicDocument = () => Promise<Document>;
/** By the row that gives it. */
export type PublicDocuments = Readonly<Partial<Record<Row['id'], PublicDocument>>>;

/** Shorter than the time that a next key is published ahead of its first signature. */
export const publicHeaders = { 'cache-control': 'public, max-age=300' } as const;
export const openToAll = { 'access-control-allow-origin': '*' } as const;

export interface PublicDocumentOptions {
  readonly endpoint: Endpoint;
  readonly document: PublicDocument;
  readonly directWay: DirectWay;
  readonly meter: Meter;
  readonly drain: Drain;
}

/**
 * Answers plain GETs past Fastify, which takes longer for one than all the rest of it. What else is asked of a document is
 * Fastify's to answer: HEAD, conditions, and on connections of which anything is special.
 */
export function publicDocument(options: PublicDocumentOptions): Direct {
  const { endpoint, document, directWay, meter, drain } = options;
  let rendered: Rendered | undefined;
  return (request, response) => {
    if (!isPlain(request)) return directWay.leave(request, response);
    const answer = (now: Document) => {
      if (drain.draining || response.destroyed || !isWholeWritable(response))
        return directWay.leave(request, response);
      if (rendered?.document !== now) rendered = render(now);
      const id = directWay.begin(request, response, endpoint.id);
      meter.count(response);
      const list = [headerNames.requestId, id, ...rendered.list];
      writeWhole(response, { status: 200, reason: 'OK', list }, rendered.body);
    };
    // In a turn of its own even where it is at hand: until then Node has not read the request to its end.
    document().then(answer, () => directWay.leave(request, response));
  };
}

interface Rendered {
  readonly document: Document;
  readonly list: readonly string[];
  /** A character a byte. */
  readonly body: string;
}

/** The headers are those that Fastify's answer has. */
function render(document: Document): Rendered {
  const body = Buffer.from(document.json).toString('latin1');
  const headers = {
    'x-content-type-options': 'nosniff',
    ...openToAll,
    ...publicHeaders,
    etag: document.etag,
    'content-type': documentType,
    'content-length': String(body.length),
  };
  return { document, list: Object.entries(headers).flat(), body };
}

const special = ['if-none-match', 'upgrade', 'content-length', 'transfer-encoding', 'expect'];

function isPlain({ method, headers, url = '' }: IncomingMessage): boolean {
  return method === 'GET' && !url.includes('?') && special.every((name) => headers[name] === undefined);
}
