import { crc32 } from 'node:zlib';

/** A record as the spool keeps it: `8 hex digits of the text's CRC-32, a blank, the text, a line end`. */
export function toLine(text: string): string {
  return `${crc32(text).toString(16).padStart(8, '0')} ${text}\n`;
}

/** The records that are as they were written. The last line of a file whose process died, or a damaged block, is not one. */
export function parseLines(file: string): { readonly records: string[]; readonly damaged: number } {
  const all = file.split('\n').filter((line) => line !== '');
  const records = all.filter(isSound).map((line) => line.slice(prefixChars));
  return { records, damaged: all.length - records.length };
}

const prefixChars = 9;

function isSound(line: string): boolean {
  return `${line}\n` === toLine(line.slice(prefixChars));
}
