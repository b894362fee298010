import {
  getFileNameLowLevel,
  parseExtraFields,
  validateFileName,
  type Entry,
  type LocalFileHeader,
} from 'yauzl';

/** The smallest header before an entry's data: of one without a name. */
export const minHeaderBytes = 30;
const isEncrypted = 1;
const isSizedLater = 8;
/** Of a size, or a place: it is where large files have it. */
export const elsewhere = 0xffff_ffff;
const largeField = 1;

/**
 * Whether the header before an entry's data says what the directory says: those who read a ZIP from its start would unpack what
 * was not judged. And of the names that each says, the plain one and the one in an extra field for Unicode, readers differ in
 * which one they take: none may lead out. Throws where an extra field is broken.
 */
export function isAsSaid(entry: Entry, header: LocalFileHeader): boolean {
  const { fileName, fileNameRaw, generalPurposeBitFlag } = entry;
  const { generalPurposeBitFlag: flags, extraField } = header;
  if (!header.fileName.equals(fileNameRaw)) return false;
  if (header.compressionMethod !== entry.compressionMethod || (flags & isEncrypted) !== 0) return false;
  if (!isSizedAsSaid(entry, header)) return false;
  const names = [
    nameOf(generalPurposeBitFlag, fileNameRaw),
    nameOf(flags, fileNameRaw),
    nameOf(flags, fileNameRaw, extraField),
  ];
  return names.every((name) => name === fileName || !leadsOut(name));
}

/** Whether the sizes stand behind the data, whatever stands before them. */
export function hasSizesLater({ generalPurposeBitFlag }: LocalFileHeader): boolean {
  return (generalPurposeBitFlag & isSizedLater) !== 0;
}

function isSizedAsSaid(entry: Entry, header: LocalFileHeader): boolean {
  const said = [entry.uncompressedSize, entry.compressedSize];
  const sizes = [header.uncompressedSize, header.compressedSize];
  if (sizes.every((size, index) => size === said[index])) return true;
  const isLarge = sizes.every((size) => size === elsewhere);
  // Info-ZIP says the one that it knows.
  if (hasSizesLater(header))
    return isLarge || sizes.every((size, index) => size === 0 || size === said[index]);
  const large = parseExtraFields(header.extraField).find(({ id }) => id === largeField)?.data;
  return (
    isLarge && large !== undefined && said.every((size, i) => large.readBigUInt64LE(8 * i) === BigInt(size))
  );
}

/** A backslash may be half of a character in an old code page, and what is no ASCII anything: neither is a fault by itself. */
function leadsOut(name: string): boolean {
  return /[\u0000-\u001f\u007f]/.test(name) || validateFileName(name.replaceAll('\\', '/')) !== null;
}

function nameOf(flags: number, name: Buffer, extraField?: Buffer): string {
  return getFileNameLowLevel(flags, name, extraField ? parseExtraFields(extraField) : [], true);
}
