import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';

// Who reads a ZIP file from its start goes on where an entry's deflate stream ends, not where the directory says that its data
// does: in between may be an entry that nobody has judged. Inflating everything would be dear, so only what has the signature
// of such an entry somewhere in its data is. Of stored data whose size stands behind them, such a reader looks for that: for a
// signature, and the checksum of what came before it.

const headerSignature = Buffer.from('PK\x03\x04', 'latin1');
const sizesSignature = Buffer.from('PK\x07\x08', 'latin1');
const windowBytes = 64 * 1024;

/** Of an entry whose data do not end where its header says. */
export interface OpenData {
  readonly from: number;
  readonly to: number;
  /** `undefined`: they are stored as they are. */
  readonly inflatedBytes: number | undefined;
}

/** Whether an entry may hide behind what looks like an end. Rejects where there is no sound stream, or a longer one than is said. */
export async function hidesEntry(file: FileHandle, data: OpenData): Promise<boolean> {
  if (data.inflatedBytes === undefined) return endsBefore(file, data);
  return (await hasSignature(file, data)) && !(await takesAll(file, data, data.inflatedBytes));
}

/** Whether stored data have something that a reader takes for their end. */
async function endsBefore(file: FileHandle, data: OpenData): Promise<boolean> {
  const checkedBytes = 8;
  let crc = 0;
  for await (const window of windowsOf(file, data, checkedBytes - 1)) {
    // What lies in two windows counts in the second.
    const end = Math.max(0, window.length - checkedBytes + 1);
    let counted = 0;
    for (let at = 0; (at = window.indexOf(sizesSignature, at)) >= 0 && at < end; at += 1) {
      crc = crc32(window.subarray(counted, at), crc);
      counted = at;
      if (window.readUInt32LE(at + 4) === crc) return true;
    }
    crc = crc32(window.subarray(counted, end), crc);
  }
  return false;
}

async function hasSignature(file: FileHandle, data: OpenData): Promise<boolean> {
  for await (const window of windowsOf(file, data, headerSignature.length - 1))
    if (window.includes(headerSignature)) return true;
  return false;
}

/** Whether the stream ends where the data do. */
async function takesAll(file: FileHandle, data: OpenData, inflatedBytes: number): Promise<boolean> {
  const source = Readable.from(windowsOf(file, data));
  const inflate = createInflateRaw();
  source.on('error', (error) => inflate.destroy(error));
  source.pipe(inflate);
  let inflated = 0;
  try {
    for await (const chunk of inflate) {
      inflated += (chunk as Buffer).length;
      // A lie about the size has no bound but this.
      if (inflated > inflatedBytes) throw new Error('It inflates to more than it says.');
    }
  } finally {
    source.destroy();
  }
  return inflate.bytesWritten === data.to - data.from;
}

/** Each begins with the last bytes of the one before. */
async function* windowsOf(
  file: FileHandle,
  { from, to }: OpenData,
  overlap = 0,
): AsyncGenerator<Buffer, void, void> {
  for (let at = from; at < to; at += windowBytes - overlap) {
    const window = Buffer.alloc(Math.min(windowBytes, to - at));
    const { bytesRead } = await file.read(window, 0, window.length, at);
    yield window.subarray(0, bytesRead);
  }
}
