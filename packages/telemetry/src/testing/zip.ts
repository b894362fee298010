import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  readonly name: string;
  readonly content?: Buffer | string;
  readonly deflate?: boolean;
  /** What the headers say, whatever is true. */
  readonly says?: Partial<{
    flags: number;
    method: number;
    compressedSize: number;
    uncompressedSize: number;
    attributes: number;
    offset: number;
  }>;
}

/** A ZIP file by hand, so that it can lie. */
export function zipOf(...entries: ZipEntry[]): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  for (const { name, content = '', deflate = false, says = {} } of entries) {
    const plain = Buffer.from(content);
    const data = deflate ? deflateRawSync(plain) : plain;
    const head = {
      flags: 0x800, // names are UTF-8
      method: deflate ? 8 : 0,
      compressedSize: data.length,
      uncompressedSize: plain.length,
      attributes: 0,
      offset: at,
      ...says,
    };
    const nameBytes = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(head.flags, 2);
    common.writeUInt16LE(head.method, 4);
    common.writeUInt32LE(crc32(plain), 10);
    common.writeUInt32LE(head.compressedSize, 14);
    common.writeUInt32LE(head.uncompressedSize, 18);
    common.writeUInt16LE(nameBytes.length, 22);
    const record = Buffer.concat([signature(0x04034b50), common, nameBytes, data]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(head.attributes, 6);
    tail.writeUInt32LE(head.offset, 10);
    local.push(record);
    central.push(Buffer.concat([signature(0x02014b50), Buffer.from([20, 3]), common, tail, nameBytes]));
    at += record.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...local, directory, signature(0x06054b50), end]);
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
