import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Redactor } from '../client/redact.ts';
import { createSecretLines } from '../client/secret-lines.ts';

/** The last lines of a text, redacted: at most `maxBytes` of them. */
export interface Tail {
  readonly text: string;
  /** Lines in which something was taken out. */
  readonly redactedLines: number;
  /** Bytes before the ones kept, as they were. */
  readonly leftOutBytes: number;
}

/** The lines of a file's last `maxBytes`; a line that the cut goes through is left out. */
export async function* fileLines(path: string, maxBytes: number): AsyncIterable<string> {
  const { size } = await stat(path);
  const start = Math.max(0, size - maxBytes);
  const lines = createInterface({ input: createReadStream(path, { start }), crlfDelay: Infinity });
  let isFirst = start > 0;
  for await (const line of lines) {
    if (!isFirst) yield line;
    isFirst = false;
  }
}

/** Redacts line by line, so that memory holds no more than what is kept. */
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
    const text = isHidden ? '[redacted]' : redactor.text(original.toWellFormed());
    const line = { text, bytes: Buffer.byteLength(text) + 1, isRedacted: text !== original };
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
  const rest = kept.slice(start);
  return {
    text: rest.map(({ text }) => `${text}\n`).join(''),
    redactedLines: rest.filter(({ isRedacted }) => isRedacted).length,
    leftOutBytes,
  };
}

interface Line {
  readonly text: string;
  readonly bytes: number;
  readonly isRedacted: boolean;
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
