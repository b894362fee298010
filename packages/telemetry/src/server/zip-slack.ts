import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createInflateRaw } from 'node:zlib';

// Who reads a ZIP file from its start goes on where an entry's deflate stream ends, not where the directory says that its data
// does: in between may be an entry that nobody has judged. Inflating everything would be dear, so only what has the signature
// of such an entry somewhere in its data is.

const headerSignature = Buffer.from('PK\x03\x04', 'latin1');
const windowBytes = 64 * 1024;

/** Of an entry. */
export interface DeflatedData {
  readonly from: number;
  readonly to: number;
  readonly inflatedBytes: number;
}

/** Whether an entry may hide behind the stream. Rejects where there is no sound stream, or a longer one than is said. */
export async function hidesEntry(file: FileHandle, data: DeflatedData): Promise<boolean> {
  return (await hasSignature(file, data)) && !(await takesAll(file, data));
}

async function hasSignature(file: FileHandle, data: DeflatedData): Promise<boolean> {
  for await (const window of windowsOf(file, data, headerSignature.length - 1))
    if (window.includes(headerSignature)) return true;
  return false;
}

/** Whether the stream ends where the data do. */
async function takesAll(file: FileHandle, data: DeflatedData): Promise<boolean> {
  const source = Readable.from(windowsOf(file, data));
  const inflate = createInflateRaw();
  source.on('error', (error) => inflate.destroy(error));
  source.pipe(inflate);
  let inflated = 0;
  try {
    for await (const chunk of inflate) {
      inflated += (chunk as Buffer).length;
      // A lie about the size has no bound but this.
      if (inflated > data.inflatedBytes) throw new Error('It inflates to more than it says.');
    }
  } finally {
    source.destroy();
  }
  return inflate.bytesWritten === data.to - data.from;
}

/** Each begins with the last bytes of the one before. */
async function* windowsOf(
  file: FileHandle,
  { from, to }: DeflatedData,
  overlap = 0,
): AsyncGenerator<Buffer, void, void> {
  for (let at = from; at < to; at += windowBytes - overlap) {
    const window = Buffer.alloc(Math.min(windowBytes, to - at));
    const { bytesRead } = await file.read(window, 0, window.length, at);
    yield window.subarray(0, bytesRead);
  }
}
