import type { AnswerHead } from '../dispatch.ts';
import { fieldsOf, lineEnd, MalformedAnswer } from './fields.ts';

/** How much of a body follows: so many bytes, chunks, or all until the connection ends. */
export type Framing = number | 'chunked' | 'until-close';

export interface ParsedHead extends AnswerHead {
  readonly framing: Framing;
  /** How long the connection may be kept for another request, in milliseconds; 0: not at all; `undefined`: it does not say. */
  readonly keepMs: number | undefined;
}

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: (.*))?$/;

/**
 * Reads the head of an answer, without the empty line at its end. Throws `MalformedAnswer`; so it does where two readers
 * could come to two opinions on where the body ends (RFC 9112 6.3).
 */
export function parseAnswerHead(text: string): ParsedHead {
  const first = lineEnd(text, 0);
  const [, minor, status, reason = ''] = statusLine.exec(text.slice(0, first)) ?? [];
  if (status === undefined) throw new MalformedAnswer('has no status line');
  const headers = fieldsOf(text, first + 2);
  let length: number | undefined;
  let isChunked = false;
  let connection = '';
  let keepAlive = '';
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? '';
    const value = headers[i + 1] ?? '';
    // By length first: most names are none of these.
    if (name.length === 14 && name.toLowerCase() === 'content-length') {
      if (length !== undefined || !/^\d{1,15}$/.test(value))
        throw new MalformedAnswer('has a length that is none, or more than one');
      length = Number(value);
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      if (isChunked || value.toLowerCase() !== 'chunked')
        throw new MalformedAnswer('has a transfer encoding other than chunked');
      isChunked = true;
    } else if (name.length === 10) {
      const lower = name.toLowerCase();
      if (lower === 'connection') connection += `,${value}`;
      else if (lower === 'keep-alive') keepAlive = value;
    }
  }
  const isOld = minor === '0';
  if (isChunked && (length !== undefined || isOld))
    throw new MalformedAnswer('says in two ways where its body ends');
  return {
    status: Number(status),
    reason,
    headers,
    framing: isChunked ? 'chunked' : (length ?? 'until-close'),
    keepMs: keepMsOf(connection, keepAlive, isOld),
  };
}

function keepMsOf(connection: string, keepAlive: string, isOld: boolean): number | undefined {
  if (connection !== '' || isOld) {
    const options = connection.toLowerCase();
    if (/,\s*close\s*(,|$)/.test(options)) return 0;
    if (isOld && !/,\s*keep-alive\s*(,|$)/.test(options)) return 0;
  }
  const seconds = keepAlive === '' ? undefined : /(?:^|[,;\s])timeout=(\d{1,6})/i.exec(keepAlive)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
