import { printable } from '@sallyport/core';
import { faultOfNames } from '../zip/names.ts';

const maxSegmentBytes = 255;

/** Deeper ones are named by their end. */
const maxSegments = 16;

/**
 * Names the files of one bundle by the paths that are wanted, so that every service takes them: else one odd name, or one that
 * comes twice, would cost the whole bundle.
 */
export function createEntryNames(taken: readonly string[]): (path: string) => string {
  const names = [...taken];
  return (path) => {
    const [first = 'file', ...rest] = segmentsOf(path);
    const nameAt = (count: number) =>
      [count === 0 ? first : `${count}-${first}`, ...rest].map(shortened).join('/');
    // What is a file may not be a directory, too: it is the first segment that tells them apart.
    let count = 0;
    while (count <= names.length && faultOfNames([...names, nameAt(count)]) !== undefined) count += 1;
    names.push(nameAt(count));
    return nameAt(count);
  };
}

/** Without what leads out of a directory. */
function segmentsOf(path: string): string[] {
  const plain = printable(path.toWellFormed()).replaceAll('\\', '_'); // which a ZIP has between directories
  return plain
    .split('/')
    .filter((segment) => !/^\.{0,2}$/.test(segment))
    .map((segment) => segment.replace(/^([a-z]):/i, '$1_'))
    .slice(-maxSegments);
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
