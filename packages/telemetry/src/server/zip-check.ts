import { open } from 'node:fs/promises';
import { ServiceError } from '@sallyport/core';
import { fromRandomAccessReaderPromise, type Entry, type ZipFile } from 'yauzl';
import { startOfDirectory } from './zip-end.ts';
import { hasSizesLater, isAsSaid, minHeaderBytes } from './zip-header.ts';
import { faultOfNames } from '../zip/names.ts';
import { ZipReader } from './zip-reader.ts';
import { hidesEntry, type OpenData } from './zip-slack.ts';

const maxEntries = 10_000;
const maxInflatedBytes = 1024 ** 3;
/** An honest log of repeated lines reaches a thousand to one, while it is small: a ratio alone would refuse it. */
const largeEntryBytes = 64 * 1024 ** 2;
const maxLargeEntryRatio = 200;
/** Of an entry in the directory, before its name. */
const entryHeadBytes = 46;
const deflated = 8;
const unsound = 'is not a sound ZIP file';

/**
 * Judges a ZIP file by its central directory, without inflating what is not suspicious; gives how many entries it has. Throws
 * `invalid_request` (400) that says what is wrong with it: not a ZIP, broken off, encrypted, empty, a bomb, or names that
 * would lead out of the directory or onto each other where it is unpacked.
 */
export async function checkZip(path: string): Promise<{ readonly entries: number }> {
  await using file = await open(path);
  const { size } = await file.stat();
  const reader = new ZipReader(file.fd, size);
  const options = { autoClose: false, strictFileNames: true };
  const zip = await fromRandomAccessReaderPromise(reader, size, options).catch(refuse);
  if (zip.entryCount === 0) throw invalidBundle('is an empty ZIP');
  if (zip.entryCount > maxEntries) throw invalidBundle(`has more than ${maxEntries} entries`);
  const { ranges, directoryBytes } = await checkEntries(zip);
  const directoryFrom = await startOfDirectory(file, size, directoryBytes);
  if (directoryFrom === undefined) throw invalidBundle(unsound);
  checkRanges([...ranges, { from: directoryFrom, to: size }]);
  // Not before: data of entries that overlap would be inflated for each of them.
  for (const { data } of ranges)
    if (data && (await hidesEntry(file, data).catch(refuse)))
      throw invalidBundle('has something behind the data of an entry');
  return { entries: zip.entryCount };
}

function invalidBundle(what: string, cause?: unknown): ServiceError {
  return new ServiceError('invalid_request', `The bundle ${what}.`, {
    issues: [{ path: 'bundle', message: what }],
    cause,
  });
}

/** Of bytes of the file. */
interface Range {
  readonly from: number;
  readonly to: number;
}

interface EntryRange extends Range {
  readonly data?: OpenData;
}

/** Gives where they are, and how many bytes of the directory they take. */
async function checkEntries(zip: ZipFile): Promise<{ ranges: EntryRange[]; directoryBytes: number }> {
  const names: string[] = [];
  const ranges: EntryRange[] = [];
  let inflated = 0;
  let directoryBytes = 0;
  for await (const entry of entriesOf(zip)) {
    names.push(entry.fileName);
    checkKind(entry);
    inflated += entry.uncompressedSize;
    if (inflated > maxInflatedBytes) throw invalidBundle('inflates to more than 1 GiB');
    ranges.push(await rangeOf(zip, entry));
    const { fileNameLength, extraFieldLength, fileCommentLength } = entry;
    directoryBytes += entryHeadBytes + fileNameLength + extraFieldLength + fileCommentLength;
  }
  const fault = faultOfNames(names);
  if (fault !== undefined) throw invalidBundle(fault);
  return { ranges, directoryBytes };
}

/**
 * Overlapping entries let a small file claim to be a large one. What is between two, such as the sizes of the first, has no room
 * for an entry that only those would find who read the file from its start.
 */
function checkRanges(ranges: Range[]): void {
  ranges.sort((a, b) => a.from - b.from);
  let end = 0;
  for (const { from, to } of ranges) {
    if (from < end) throw invalidBundle('has entries that overlap');
    if (from - end >= minHeaderBytes) throw invalidBundle('has something between its entries');
    end = to;
  }
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  try {
    yield* zip.eachEntry();
  } catch (error) {
    refuse(error);
  }
}

/** Kinds of a file in a mode of Unix: a character device, a block device, a socket. A FIFO is what `... | zip x.zip -` says. */
const specialKinds = [0o020000, 0o060000, 0o140000];
const symbolicLink = 0o120000;

function checkKind(entry: Entry): void {
  const { compressedSize, uncompressedSize, compressionMethod, externalFileAttributes } = entry;
  if (entry.isEncrypted()) throw invalidBundle('is encrypted');
  if (compressionMethod !== 0 && compressionMethod !== deflated)
    throw invalidBundle('is compressed with another method than deflate');
  const kind = (externalFileAttributes >>> 16) & 0o170000;
  if (kind === symbolicLink) throw invalidBundle('has a symbolic link');
  if (specialKinds.includes(kind)) throw invalidBundle('has what is neither a file nor a directory');
  if (uncompressedSize > largeEntryBytes && uncompressedSize > compressedSize * maxLargeEntryRatio)
    throw invalidBundle('inflates out of proportion');
}

/** Where the entry's header and data are. */
async function rangeOf(zip: ZipFile, entry: Entry): Promise<EntryRange> {
  const header = await zip.readLocalFileHeaderPromise(entry).catch(refuse);
  if (!isSound(() => isAsSaid(entry, header)))
    throw invalidBundle('has an entry whose header differs from the directory');
  const from = header.fileDataStart;
  const to = from + entry.compressedSize;
  const isDeflated = entry.compressionMethod === deflated;
  const inflatedBytes = isDeflated ? entry.uncompressedSize : undefined;
  const data = (isDeflated || hasSizesLater(header)) && { from, to, inflatedBytes };
  return { from: entry.relativeOffsetOfLocalHeader, to, ...(data && { data }) };
}

function isSound(judge: () => boolean): boolean {
  try {
    return judge();
  } catch (error) {
    return refuse(error);
  }
}

/** What yauzl finds is the file's fault; what the file system says is not. */
function refuse(error: unknown): never {
  if (error instanceof ServiceError || (error as NodeJS.ErrnoException).syscall !== undefined) throw error;
  throw invalidBundle(unsound, error);
}
