import type { FileHandle } from 'node:fs/promises';
import { elsewhere } from './zip-header.ts';

// The records that end a ZIP file (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT 4.3.14 to 4.3.16).
const endSignature = Buffer.from('PK\x05\x06', 'latin1');
const endBytes = 22;
const maxCommentBytes = 0xffff;
const locatorSignature = 0x07064b50;
const locatorBytes = 20;
const largeEndBytes = 56;

/**
 * Where the directory begins that was gone through, of so many bytes; `undefined` where it is not the one that the file's end
 * tells of, or does not lie right before it. Readers go by the number of its entries, by its length or by where it ends: of a file in which those differ, they would
 * see other entries than were judged. The records that end the file have been found before.
 */
export async function startOfDirectory(
  file: FileHandle,
  size: number,
  directoryBytes: number,
): Promise<number | undefined> {
  const read = async (from: number, bytes: number) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, from);
    return buffer.subarray(0, bytesRead);
  };
  const tailFrom = Math.max(0, size - maxCommentBytes - endBytes - locatorBytes);
  const tail = await read(tailFrom, size - tailFrom);
  const at = tail.lastIndexOf(endSignature, tail.length - endBytes);
  const said = { bytes: tail.readUInt32LE(at + 12), from: tail.readUInt32LE(at + 16) };
  const locatorAt = at - locatorBytes;
  if (locatorAt < 0 || tail.readUInt32LE(locatorAt) !== locatorSignature)
    return said.bytes === directoryBytes && said.from + directoryBytes === tailFrom + at
      ? said.from
      : undefined;

  const largeAt = Number(tail.readBigUInt64LE(locatorAt + 8));
  const large = await read(largeAt, largeEndBytes);
  const [bytes, from] = [Number(large.readBigUInt64LE(40)), Number(large.readBigUInt64LE(48))];
  const isSound =
    bytes === directoryBytes &&
    from + bytes === largeAt &&
    largeAt + 12 + Number(large.readBigUInt64LE(4)) === tailFrom + locatorAt &&
    [bytes, elsewhere].includes(said.bytes) &&
    [from, elsewhere].includes(said.from);
  return isSound ? from : undefined;
}
