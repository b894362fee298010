import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Smaller ones stay as they are: to begin takes 50 to 100 µs, however little there is to decompress. */
const worthwhileBytes = 16 * 1024;
/** The quickest of the levels that have a name: it takes less time than writing the rest would. */
const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** A value of a row, and how it is written: as it is, or compressed. */
export interface Compressed {
  readonly bytes: Uint8Array;
  readonly compression: 'zstd' | null;
}

export function compress(bytes: Uint8Array): Compressed {
  if (bytes.byteLength < worthwhileBytes) return { bytes, compression: null };
  const smaller = zstdCompressSync(bytes, options);
  return smaller.byteLength < bytes.byteLength
    ? { bytes: smaller, compression: 'zstd' }
    : { bytes, compression: null };
}

export function decompress({ bytes, compression }: Compressed): Uint8Array {
  return compression === null ? bytes : zstdDecompressSync(bytes);
}
