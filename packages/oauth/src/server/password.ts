import { scrypt, timingSafeEqual } from 'node:crypto';
import { ServiceError, type Random } from '@sallyport/core';
import type { OAuthConfig } from './config.ts';

/** Passwords as PHC strings: `$scrypt$ln=15,r=8,p=3$salt$hash`. */
export interface Passwords {
  hash(password: string): Promise<string>;
  /** Takes as long where `hash` is `null` (no account, or no password yet), and is then `false`. */
  verify(password: string, hash: string | null): Promise<boolean>;
}

/** Each takes a thread of Node's pool and 32 MiB or more: beyond so many they wait, beyond `maxWaiting` they are refused. */
const maxParallel = 2;
const maxWaiting = 64;
const hashBytes = 32;

export function createPasswords(random: Random, cost: OAuthConfig['password']): Passwords {
  let running = 0;
  const waiting: (() => void)[] = [];

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= maxParallel) {
      if (waiting.length >= maxWaiting)
        throw new ServiceError('overloaded', 'Too many sign-ins at once.', { retryAfterMs: 5000 });
      // Whoever ends hands its place over, so `running` stays.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  }

  const nobody = format({ ...cost, salt: Buffer.alloc(16), hash: Buffer.alloc(hashBytes) });

  return {
    async hash(password) {
      const salt = Buffer.from(random.bytes(16));
      const hash = await inTurn(() => derive(password, { ...cost, salt, hash: Buffer.alloc(hashBytes) }));
      return format({ ...cost, salt, hash });
    },
    async verify(password, hash) {
      const known = parse(hash ?? nobody);
      const derived = await inTurn(() => derive(password, known));
      return timingSafeEqual(derived, known.hash) && hash !== null;
    },
  };
}

interface Phc {
  readonly logCost: number;
  readonly blockSize: number;
  readonly parallelization: number;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

function format({ logCost, blockSize, parallelization, salt, hash }: Phc): string {
  const parameters = `ln=${logCost},r=${blockSize},p=${parallelization}`;
  return `$scrypt$${parameters}$${base64(salt)}$${base64(hash)}`;
}

function parse(text: string): Phc {
  const [, logCost, blockSize, parallelization, salt = '', hash = ''] =
    /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(text) ?? [];
  if (logCost === undefined) throw new Error('A password hash in the store is not scrypt in PHC form.');
  return {
    logCost: Number(logCost),
    blockSize: Number(blockSize),
    parallelization: Number(parallelization),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  };
}

/** PHC strings leave the padding out. */
function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

function derive(password: string, { logCost, blockSize, parallelization, salt, hash }: Phc): Promise<Buffer> {
  const options = {
    N: 2 ** logCost,
    r: blockSize,
    p: parallelization,
    // What scrypt needs (128 N r, 128 r p), twice: Node refuses at its default of 32 MiB.
    maxmem: 256 * blockSize * (2 ** logCost + parallelization),
  };
  return new Promise((resolve, reject) => {
    // NFKC: the same password typed on two keyboards is the same bytes (NIST SP 800-63B 5.1.1.2).
    scrypt(password.normalize('NFKC'), salt, hash.length, options, (error, derived) => {
      if (error) reject(error);
      else resolve(derived);
    });
  });
}
