import { TransportError } from '../errors.ts';

/** One server-sent event; `data` lines are joined by line feeds. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
  readonly id?: string;
}

/** Far above the longest event that the service sends, in characters. */
const maxEventLength = 16 * 1024 * 1024;

/** Parses `text/event-stream` (WHATWG HTML 9.2.6): any chunking, CR, LF or CRLF, a BOM, comments, ids that persist. */
export async function* readServerSentEvents(body: AsyncIterable<Uint8Array>): AsyncIterable<ServerSentEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  let isAfterCr = false;
  let event = '';
  let data: string[] = [];
  let length = 0;
  let id: string | undefined;
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    // A long line comes in many chunks, and is not looked through again for each.
    const endsLine = isAfterCr || /[\r\n]/.test(text);
    isAfterCr = text === '' ? isAfterCr : text.endsWith('\r');
    rest += text;
    if (rest.length + length > maxEventLength)
      throw new TransportError('unexpected_answer', 'the event stream has an event without end');
    if (!endsLine) continue;
    // A CR at the very end may be the first half of CRLF: it stays until the next chunk.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0)
          yield { event: event || 'message', data: data.join('\n'), ...(id !== undefined && { id }) };
        event = '';
        data = [];
        length = 0;
        continue;
      }
      const colon = line.indexOf(':');
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (field === 'data') {
        data.push(value);
        length += line.length;
      } else if (field === 'event') event = value;
      else if (field === 'id' && !value.includes('\0')) id = value;
    }
  }
}
