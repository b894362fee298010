/** Randomness, as a port. */
export interface Random {
  bytes(length: number): Uint8Array;
  /** Uniform in [0, 1). */
  fraction(): number;
}

/** Drawn at once: a draw costs microseconds however little it is for, and every request has an id. */
const pool = new Uint8Array(4096);
let taken = pool.length;

function systemBytes(length: number): Uint8Array {
  if (length > pool.length / 4) return crypto.getRandomValues(new Uint8Array(length));
  if (taken + length > pool.length) {
    crypto.getRandomValues(pool);
    taken = 0;
  }
  const bytes = pool.slice(taken, taken + length);
  // Given out once: what may be a secret stays with its owner alone.
  pool.fill(0, taken, taken + length);
  taken += length;
  return bytes;
}

export const systemRandom: Random = {
  bytes: systemBytes,
  fraction: () => new DataView(systemBytes(4).buffer).getUint32(0) / 2 ** 32,
};

/** `bytes` of randomness as base64url without padding: 32 bytes give a 256-bit secret of 43 characters. */
export function randomSecret(random: Random, bytes = 32): string {
  return Buffer.from(random.bytes(bytes)).toString('base64url');
}
