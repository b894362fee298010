import { ulid } from 'ulid';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

export type IdPrefix = 'env' | 'work' | 'session' | 'evt' | 'fb' | 'req';

/** Makes identifiers; injected, so that tests get the same ones each time. */
export interface Ids {
  /** `env_01J...`: time-ordered, 128 bits, URL-safe. */
  next(prefix: IdPrefix): string;
  /** A version 4 UUID, for accounts, organizations and OAuth clients. */
  uuid(): string;
}

export function createIds(clock: Clock, random: Random): Ids {
  return {
    next(prefix) {
      // One draw for all sixteen characters: a system call for each made an id cost 50 us.
      const bytes = random.bytes(16).values();
      return `${prefix}_${ulid(clock.now(), () => (bytes.next().value ?? 0) / 256)}`;
    },
    uuid() {
      const bytes = Buffer.from(random.bytes(16));
      bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40; // version and variant bits: RFC 9562 5.4
      bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
      return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    },
  };
}

/** Whether `id` may be an identifier with that prefix: what a client brings along is checked before it is taken. */
export function isId(prefix: IdPrefix, id: string): boolean {
  return id.startsWith(`${prefix}_`) && /^[A-Za-z0-9_-]{1,123}$/.test(id.slice(prefix.length + 1));
}
