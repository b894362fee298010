import { Readable } from 'node:stream';
import { MalformedRequest, type Outgoing } from '../dispatch.ts';
import { token } from './fields.ts';

const oddInPath = /[^\x21-\x7e\x80-\xff]/;
const oddInValue = /[^\t\x20-\x7e\x80-\xff]/;
/** Methods whose requests have a body: one without it says that it is empty (RFC 9110 8.6). */
const withBody = new Set(['POST', 'PUT', 'PATCH', 'QUERY']);
/** Who frames a message says how, and who owns a connection what becomes of it. */
const own = new Set(['content-length', 'transfer-encoding', 'connection', 'host']);

export interface RequestHead {
  /** In Latin-1, with the empty line at its end. */
  readonly text: string;
  /** How the body is framed. */
  readonly framing: number | 'chunked';
}

/** Writes the head of a request to `host`. Throws `MalformedRequest`. */
export function requestHead(request: Outgoing, host: string): RequestHead {
  const { method, path, headers, body, upgrades } = request;
  if (!token.test(method) || oddInPath.test(path)) throw new MalformedRequest('Its method or path is none.');
  const connection = upgrades === true ? 'upgrade\r\nupgrade: websocket' : 'keep-alive';
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: ${connection}\r\n`;
  let said: string | undefined;
  let trailer = '';
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? '';
    const value = headers[i + 1] ?? '';
    if (!token.test(name) || oddInValue.test(value))
      throw new MalformedRequest(`Its header ${name} is none.`);
    const lower = ownLengths.has(name.length) ? name.toLowerCase() : '';
    if (own.has(lower)) said = lower === 'content-length' ? value : said;
    else if (lower === 'trailer') trailer += `${name}: ${value}\r\n`;
    else text += `${name}: ${value}\r\n`;
  }
  const framing = framingOf(body, said);
  if (framing === 'chunked') text += `${trailer}transfer-encoding: chunked\r\n`;
  else if (body !== null || withBody.has(method) || said === '0') text += `content-length: ${framing}\r\n`;
  return { text: `${text}\r\n`, framing };
}

/** Most names are none of these by their length already. */
const ownLengths = new Set([...own, 'trailer'].map(({ length }) => length));

function framingOf(body: Outgoing['body'], said: string | undefined): number | 'chunked' {
  if (body === null) return 0;
  if (!(body instanceof Readable)) return body.length;
  if (said === undefined) return 'chunked';
  if (!/^\d{1,15}$/.test(said)) throw new MalformedRequest('Its length is none.');
  return Number(said);
}

/** What ends a body in chunks. */
export function lastChunk(trailers: readonly string[]): string {
  let text = '0\r\n';
  for (let i = 0; i < trailers.length; i += 2) {
    const name = trailers[i] ?? '';
    const value = trailers[i + 1] ?? '';
    if (token.test(name) && !oddInValue.test(value)) text += `${name}: ${value}\r\n`;
  }
  return `${text}\r\n`;
}
