import { printable } from '@sallyport/core';

const maxSegmentBytes = 255;

/** A path within a bundle that every service takes: else one odd name would cost the whole bundle. */
export function entryName(path: string): string {
  const plain = printable(path.toWellFormed()).replaceAll('\\', '_'); // which a ZIP has between directories
  return plain.split('/').map(shortened).join('/');
}

/** With its beginning and its end, which tell what it is. */
function shortened(segment: string): string {
  if (Buffer.byteLength(segment) <= maxSegmentBytes) return segment;
  const half = Math.floor((maxSegmentBytes - 3) / 2);
  const bytes = Buffer.from(segment);
  const beginning = bytes
    .subarray(0, half)
    .toString()
    .replace(/\ufffd+$/, '');
  const end = bytes
    .subarray(-half)
    .toString()
    .replace(/^\ufffd+/, '');
  return `${beginning}...${end}`;
}
