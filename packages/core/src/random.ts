/** Randomness, as a port. */
export interface Random {
  bytes(length: number): Uint8Array;
  /** Uniform in [0, 1). */
  fraction(): number;
}

export const systemRandom: Random = {
  bytes: (length) => (length > pool.length ? crypto.getRandomValues(new Uint8Array(length)) : draw(length)),
  fraction: () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32,
};

/** Drawn from the system at once: what a few bytes cost is the call. Every request has an id. */
const pool = new Uint8Array(1024);
let drawn = pool.length;

function draw(length: number): Uint8Array {
  if (drawn + length > pool.length) {
    crypto.getRandomValues(pool);
    drawn = 0;
  }
  const bytes = pool.slice(drawn, drawn + length);
  pool.fill(0, drawn, (drawn += length)); // a secret is not kept here
  return bytes;
}

/** `bytes` of randomness as base64url without padding: 32 bytes give a 256-bit secret of 43 characters. */
export function randomSecret(random: Random, bytes = 32): string {
  return Buffer.from(random.bytes(bytes)).toString('base64url');
}
