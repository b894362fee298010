import type { Random } from '@sallyport/core';

/** Characters of an id. */
export const idChars = 36;

/** Makes version 7 UUIDs (RFC 9562 5.7) of times in whole epoch milliseconds. Those of one maker sort in the order in which they were made (6.2, method 1). */
export interface EventIds {
  next(ms: number): string;
  /** Writes the next one in ASCII: text that is made of parts costs more than all else of an id. */
  write(ms: number, bytes: Uint8Array, at: number): void;
}

export function createEventIds(random: Random): EventIds {
  const text = Buffer.alloc(idChars);
  const time = Buffer.alloc(timeChars);
  let lastMs = 0;
  let counter = 0;
  let noise: Uint8Array = new Uint8Array(0);
  let drawn = 0;
  let timeOf = -1;

  function write(now: number, bytes: Uint8Array, at: number): void {
    if (now > lastMs) {
      lastMs = now;
      counter = 0;
    } else if (++counter > 0xfff) {
      // More than 4,096 in a millisecond, or the clock went back: the next millisecond is borrowed.
      lastMs += 1;
      counter = 0;
    }
    if (drawn >= noise.length) {
      // One draw for many: a system call for each made an id cost more than all else of an event.
      noise = random.bytes(8 * drawnAtOnce);
      drawn = 0;
    }
    if (lastMs !== timeOf) {
      timeOf = lastMs;
      const hex = lastMs.toString(16).padStart(12, '0');
      time.write(`${hex.slice(0, 8)}-${hex.slice(8)}-7`, 'latin1');
    }
    bytes.set(time, at);
    bytes[at + 15] = digits[counter >>> 8] as number;
    bytes[at + 16] = digits[(counter >>> 4) & 15] as number;
    bytes[at + 17] = digits[counter & 15] as number;
    bytes[at + 18] = dash;
    bytes[at + 23] = dash;
    const first = noise[drawn] as number;
    bytes[at + 19] = digits[((first >>> 4) & 3) | 8] as number; // the variant
    bytes[at + 20] = digits[first & 15] as number;
    for (let index = 1; index < 8; index += 1) {
      const byte = noise[drawn + index] as number;
      const place = at + 19 + 2 * index + (index > 1 ? 1 : 0);
      bytes[place] = digits[byte >>> 4] as number;
      bytes[place + 1] = digits[byte & 15] as number;
    }
    drawn += 8;
  }

  return {
    write,
    next(ms) {
      write(ms, text, 0);
      return text.toString('latin1');
    },
  };
}

const drawnAtOnce = 1024;
const timeChars = 15;
const digits = new TextEncoder().encode('0123456789abcdef');
const dash = 0x2d;
