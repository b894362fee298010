import type { Endpoint, InputFor, ResponseOf } from '../contract/endpoint.ts';
import { TransportError } from '../errors.ts';
import { readAnswer, send, type CallInput, type CallOptions, type ClientOptions } from './call.ts';

/** The part of a list that one call gives. */
export interface ListPage<Body> {
  readonly body: Body;
  /** The `offset` of the next page; `undefined` on the last one. */
  readonly next: string | undefined;
}

/**
 * A list's pages, one call each, asked for as they are wanted; `query.limit` is the size of a page. Of `Link` only the
 * `offset` is taken: credentials go to no other address than the client's own. Rejects as the client's methods do.
 *
 * @example
 * for await (const { body } of pages(options, contract.environments.list, { query: { name: 'build' } }))
 *   for (const { id } of body) console.log(id);
 */
export async function* pages<E extends Endpoint>(
  options: ClientOptions,
  endpoint: E,
  input: InputFor<E>,
  call: CallOptions = {},
): AsyncGenerator<ListPage<ResponseOf<E>>, void, undefined> {
  const given: CallInput = input;
  let offset = given.query?.['offset'];
  for (;;) {
    const asked = offset === undefined ? given : { ...given, query: { ...given.query, offset } };
    const answer = await send(options, endpoint, asked, call);
    const next = nextOffset(answer.headers['link']);
    // A token that leads to its own page would be followed for ever.
    if (next === '' || (next !== undefined && next === offset))
      throw new TransportError('unexpected_answer', `${options.baseUrl} names a next page that is none`);
    yield { body: (await readAnswer(options, endpoint, answer)) as ResponseOf<E>, next };
    if (next === undefined) return;
    offset = next;
  }
}

const links = /<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s";,]*))?)*)/g;
const parametersOf = /;\s*([^\s=;,]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]*)))?/g;

/** The `offset` of the link to the next page (RFC 8288); `''` where that link has none, `undefined` without such a link. */
export function nextOffset(header: string | undefined): string | undefined {
  for (const [, target = '', parameters = ''] of (header ?? '').matchAll(links)) {
    if (!relationsOf(parameters).includes('next')) continue;
    const query = target.split('#', 1)[0]?.split('?').slice(1).join('?');
    return new URLSearchParams(query).get('offset') ?? '';
  }
  return undefined;
}

function relationsOf(parameters: string): readonly string[] {
  for (const [, name, quoted, bare = ''] of parameters.matchAll(parametersOf))
    if (name?.toLowerCase() === 'rel') return (quoted ?? bare).toLowerCase().split(/\s+/);
  return [];
}
