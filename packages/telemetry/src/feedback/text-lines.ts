import { constants, createReadStream, open } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { hidden, type Redactor } from '../client/redact.ts';
import { createSecretLines } from '../client/secret-lines.ts';
import { redactJson } from './redact-json.ts';

/** The last lines of a text, redacted: as many as had at most `maxBytes` before. */
export interface Tail {
  readonly text: string;
  /** Lines in which something was taken out. */
  readonly redactedLines: number;
  /** Bytes before the ones kept, as they were. */
  readonly leftOutBytes: number;
}

/** The lines of a file's end, and how much of it lies before them. */
export interface FileEnd {
  readonly lines: AsyncIterable<string>;
  readonly bytesBefore: number;
}

/** A secret that began before the cut is known by its beginning: a private key, say, which is not longer than this. */
const watchedBytes = 64 * 1024;

/**
 * At least the last `maxBytes` of a file, and some lines before them by which secrets are known; a line that the cut goes
 * through is left out. Of a file that grows meanwhile, what it had.
 */
export async function endOf(path: string, maxBytes: number, signal?: AbortSignal): Promise<FileEnd> {
  const stats = await stat(path);
  const start = Math.max(0, stats.size - maxBytes - watchedBytes);
  async function* lines(): AsyncIterable<string> {
    // Files of the system say that they are empty.
    const range = { start, end: (stats.size || maxBytes) - 1 };
    const input = stats.isFile()
      ? createReadStream(path, { ...range, signal })
      : await openPipe(path, signal);
    let isFirst = start > 0;
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      if (!isFirst) yield line;
      isFirst = false;
    }
  }
  return { lines: lines(), bytesBefore: start };
}

/** As a socket: a file that waits for whoever writes holds up a thread, which nothing ends. */
async function openPipe(path: string, signal?: AbortSignal): Promise<Readable> {
  const fd = await promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false, ...(signal && { signal }) });
}

/** Memory holds no more than what is kept. */
export async function tailOf(
  lines: AsyncIterable<string>,
  redactor: Redactor,
  maxBytes: number,
): Promise<Tail> {
  const isWithinKey = keyWatch();
  const isSecret = createSecretLines();
  let kept: Line[] = [];
  let start = 0;
  let bytes = 0;
  let leftOutBytes = 0;
  for await (const original of lines) {
    const isHidden = [isWithinKey(original), isSecret(original)].includes(true);
    const text = original.toWellFormed();
    const line = { text, bytes: Buffer.byteLength(text) + 1, isHidden };
    kept.push(line);
    for (bytes += line.bytes; bytes > maxBytes; start += 1) {
      const dropped = kept[start]?.bytes ?? bytes;
      bytes -= dropped;
      leftOutBytes += dropped;
    }
    if (start < 10_000) continue;
    kept = kept.slice(start);
    start = 0;
  }
  return { ...redacted(kept.slice(start), redactor), leftOutBytes };
}

interface Line {
  readonly text: string;
  readonly bytes: number;
  /** It belongs to a secret that began on a line before. */
  readonly isHidden: boolean;
}

/** What is JSON, as a whole or line by line, stays JSON: whoever gets it reads it with a program. */
function redacted(lines: readonly Line[], redactor: Redactor): Omit<Tail, 'leftOutBytes'> {
  const areJson = lines.every(({ text }) => text.trim() === '' || isJson(text));
  const whole = lines.map(({ text }) => `${text}\n`).join('');
  if (!areJson && isJson(whole)) return redactJson(whole, redactor);
  const texts = lines.map(({ text, isHidden }) => {
    if (areJson || (!isHidden && /^\s*[[{]/.test(text) && isJson(text)))
      return redactJson(text, redactor).text;
    return isHidden ? hidden : redactor.text(text);
  });
  return {
    text: texts.map((text) => `${text}\n`).join(''),
    redactedLines: texts.filter((text, at) => text !== lines[at]?.text).length,
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether a line belongs to a PEM block: alone, the lines of one look like nothing. */
function keyWatch(): (line: string) => boolean {
  let isWithin = false;
  return (line) => {
    if (line.includes('-----BEGIN ')) isWithin = !line.includes('-----END ');
    else if (isWithin && line.includes('-----END ')) {
      isWithin = false;
      return true;
    }
    return isWithin;
  };
}
