import type { ServerResponse } from 'node:http';
import { endedWhole } from './cut.ts';
import { keepAliveSeconds } from './listener.ts';

export interface AnswerParts {
  readonly status: number;
  /** What Node sends as one. */
  readonly reason: string;
  /** Flat, name and value by turns; our own or read off the wire, so that none has a line end within. `Content-Length` is one. */
  readonly list: readonly string[];
}

/**
 * Writes a short answer with one call, and has Node go on to the connection's next request. `ServerResponse` takes as long for
 * it as the rest of the way through the gateway: it looks at each header twice, and queues, corks and counts what is one
 * string. What it would do otherwise than here is left to it: then this gives `false`, and nothing is written.
 * `body`: a character a byte.
 */
export function writeWhole(response: ServerResponse, parts: AnswerParts, body: string): boolean {
  if (!isWholeWritable(response)) return false;
  const { status, reason, list } = parts;
  let text = `HTTP/1.1 ${status} ${reason}\r\n`;
  let isDated = false;
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'date') isDated = true;
    text += `${name}: ${list[i + 1] ?? ''}\r\n`;
  }
  if (!isDated) text += `Date: ${new Date().toUTCString()}\r\n`;
  text += `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n\r\n`;
  response.socket?.write(text + body, 'latin1');
  response.statusCode = status;
  endedWhole(response);
  // What `end` comes to: the server takes the response off its connection when it hears that it has finished.
  response.emit('finish');
  return true;
}

export function isWholeWritable(response: ServerResponse): boolean {
  const { socket, req } = response;
  // No socket: an answer to an earlier request of the connection comes first.
  if (socket === null || !req.complete || req.httpVersion !== '1.1' || !response.shouldKeepAlive)
    return false;
  return !response.headersSent && response.getHeaderNames().length === 0;
}
