/** Randomness, as a port. */
export interface Random {
  bytes(length: number): Uint8Array;
  /** Uniform in [0, 1). */
  fraction(): number;
}

export const systemRandom: Random = {
  bytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  fraction: () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32,
};

/** `bytes` of randomness as base64url without padding: 32 bytes give a 256-bit secret of 43 characters. */
export function randomSecret(random: Random, bytes = 32): string {
  return Buffer.from(random.bytes(bytes)).toString('base64url');
}
