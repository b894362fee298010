import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  readonly name: string;
  readonly content?: Buffer | string;
  readonly deflate?: boolean;
  /** What both headers say, whatever is true. */
  readonly says?: Partial<{
    flags: number;
    method: number;
    compressedSize: number;
    uncompressedSize: number;
    attributes: number;
    offset: number;
    /** In the directory alone. */
    extra: Buffer;
  }>;
  /** What the header before the data says instead. */
  readonly before?: Partial<{
    name: string;
    flags: number;
    method: number;
    compressedSize: number;
    uncompressedSize: number;
    extra: Buffer;
  }>;
  /** The directory does not have it. */
  readonly isHidden?: boolean;
}

/** The extra field that says an entry's name in Unicode (Info-ZIP's 0x7075), for an entry that is called `name` otherwise. */
export function unicodeName(name: string, unicode: string): Buffer {
  const text = Buffer.from(unicode);
  const head = Buffer.alloc(9);
  head.writeUInt16LE(0x7075, 0);
  head.writeUInt16LE(5 + text.length, 2);
  head.writeUInt8(1, 4);
  head.writeUInt32LE(crc32(name), 5);
  return Buffer.concat([head, text]);
}

/** A ZIP file by hand, so that it can lie. */
export function zipOf(...entries: ZipEntry[]): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  for (const { name, content = '', deflate = false, says = {}, before = {}, isHidden = false } of entries) {
    const plain = Buffer.from(content);
    const data = deflate ? deflateRawSync(plain) : plain;
    const head = {
      flags: 0x800, // names are UTF-8
      method: deflate ? 8 : 0,
      compressedSize: data.length,
      uncompressedSize: plain.length,
      attributes: 0,
      offset: at,
      extra: Buffer.alloc(0),
      ...says,
    };
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(head.flags, 2);
    common.writeUInt16LE(head.method, 4);
    common.writeUInt32LE(crc32(plain), 10);
    common.writeUInt32LE(head.compressedSize, 14);
    common.writeUInt32LE(head.uncompressedSize, 18);
    const withName = (text: string, { length }: Buffer) => {
      const named = Buffer.from(common);
      named.writeUInt16LE(Buffer.byteLength(text), 22);
      named.writeUInt16LE(length, 24);
      return named;
    };
    const { name: ownName = name, extra: ownExtra = Buffer.alloc(0) } = before;
    const own = withName(ownName, ownExtra);
    own.writeUInt16LE(before.flags ?? head.flags, 2);
    own.writeUInt16LE(before.method ?? head.method, 4);
    own.writeUInt32LE(before.compressedSize ?? head.compressedSize, 14);
    own.writeUInt32LE(before.uncompressedSize ?? head.uncompressedSize, 18);
    const record = Buffer.concat([signature(0x04034b50), own, Buffer.from(ownName), ownExtra, data]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(head.attributes, 6);
    tail.writeUInt32LE(head.offset, 10);
    local.push(record);
    const listed = Buffer.concat([
      signature(0x02014b50),
      Buffer.from([20, 3]),
      withName(name, head.extra),
      tail,
      Buffer.from(name),
      head.extra,
    ]);
    if (!isHidden) central.push(listed);
    at += record.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(central.length, 4);
  end.writeUInt16LE(central.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...local, directory, signature(0x06054b50), end]);
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
