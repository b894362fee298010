import { stat } from 'node:fs/promises';
import { ServiceError } from '@sallyport/core';
import { openPromise, type Entry, type ZipFile } from 'yauzl';

const maxEntries = 10_000;
const maxInflatedBytes = 1024 ** 3;
/** An honest log of repeated lines reaches a thousand to one, while it is small: a ratio alone would refuse it. */
const largeEntryBytes = 64 * 1024 ** 2;
const maxLargeEntryRatio = 200;
const maxSegmentBytes = 255;

/**
 * Judges a ZIP file by its central directory, without inflating anything; gives how many entries it has. Throws
 * `invalid_request` (400) that says what is wrong with it: not a ZIP, broken off, encrypted, empty, a bomb, or names that
 * would lead out of the directory or onto each other where it is unpacked.
 */
export async function checkZip(path: string): Promise<{ readonly entries: number }> {
  const { size } = await stat(path);
  const zip = await openPromise(path, { autoClose: false, strictFileNames: true }).catch(refuse);
  try {
    if (zip.entryCount === 0) throw invalidBundle('is an empty ZIP');
    if (zip.entryCount > maxEntries) throw invalidBundle(`has more than ${maxEntries} entries`);
    await checkEntries(zip, size);
    return { entries: zip.entryCount };
  } finally {
    zip.close();
  }
}

function invalidBundle(what: string, cause?: unknown): ServiceError {
  return new ServiceError('invalid_request', `The bundle ${what}.`, {
    issues: [{ path: 'bundle', message: what }],
    cause,
  });
}

async function checkEntries(zip: ZipFile, size: number): Promise<void> {
  const names = new Set<string>();
  const ranges: { readonly from: number; readonly to: number }[] = [];
  let inflated = 0;
  for await (const entry of entriesOf(zip)) {
    checkName(entry.fileName, names);
    checkKind(entry);
    inflated += entry.uncompressedSize;
    if (inflated > maxInflatedBytes) throw invalidBundle('inflates to more than 1 GiB');
    ranges.push(await rangeOf(zip, entry));
  }
  ranges.sort((a, b) => a.from - b.from);
  let end = 0;
  for (const { from, to } of ranges) {
    if (from < end) throw invalidBundle('has entries that overlap');
    end = to;
  }
  if (end > size) throw invalidBundle('breaks off');
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  try {
    yield* zip.eachEntry();
  } catch (error) {
    refuse(error);
  }
}

function checkName(name: string, names: Set<string>): void {
  if (/[\u0000-\u001f\u007f]/.test(name)) throw invalidBundle('has a name with control characters');
  if (name.split('/').some((segment) => segment === '..' || Buffer.byteLength(segment) > maxSegmentBytes))
    throw invalidBundle('has a name that no file system takes');
  // What other file systems would take for the same name.
  const folded = name.normalize('NFC').toLowerCase().replace(/\/$/, '');
  if (names.has(folded)) throw invalidBundle('has a name twice');
  names.add(folded);
}

const symbolicLink = 0o120000;

function checkKind(entry: Entry): void {
  const { compressedSize, uncompressedSize, compressionMethod, externalFileAttributes } = entry;
  if (entry.isEncrypted()) throw invalidBundle('is encrypted');
  if (compressionMethod !== 0 && compressionMethod !== 8)
    throw invalidBundle('is compressed with another method than deflate');
  if (((externalFileAttributes >>> 16) & 0o170000) === symbolicLink)
    throw invalidBundle('has a symbolic link');
  if (uncompressedSize > largeEntryBytes && uncompressedSize > compressedSize * maxLargeEntryRatio)
    throw invalidBundle('inflates out of proportion');
}

/** Where the entry's header and data are. Overlapping ones let a small file claim to be a large one. */
async function rangeOf(zip: ZipFile, entry: Entry): Promise<{ from: number; to: number }> {
  const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true }).catch(refuse);
  return { from: entry.relativeOffsetOfLocalHeader, to: fileDataStart + entry.compressedSize };
}

/** What yauzl finds is the file's fault; what the file system says is not. */
function refuse(error: unknown): never {
  if (error instanceof ServiceError || (error as NodeJS.ErrnoException).syscall !== undefined) throw error;
  throw invalidBundle('is not a sound ZIP file', error);
}
