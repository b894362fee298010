import type { Random } from '@sallyport/core';

/** Makes version 7 UUIDs (RFC 9562 5.7) of times in whole epoch milliseconds. Those of one maker sort in the order in which they were made (6.2, method 1). */
export function createEventIds(random: Random): (ms: number) => string {
  let lastMs = 0;
  let counter = 0;
  let noise = '';
  let at = 0;
  let timeOf = -1;
  let time = '';
  return (now) => {
    if (now > lastMs) {
      lastMs = now;
      counter = 0;
    } else if (++counter > 0xfff) {
      // More than 4,096 in a millisecond, or the clock went back: the next millisecond is borrowed.
      lastMs += 1;
      counter = 0;
    }
    if (at >= noise.length) {
      // One draw for many: a system call for each made an id cost more than all else of an event.
      noise = Buffer.from(random.bytes(8 * drawnAtOnce)).toString('hex');
      at = 0;
    }
    const variant = (Number.parseInt(noise.charAt(at), 16) & 3) | 8;
    const tail = `${variant.toString(16)}${noise.slice(at + 1, at + 4)}-${noise.slice(at + 4, at + 16)}`;
    at += 16;
    if (lastMs !== timeOf) {
      timeOf = lastMs;
      const hex = lastMs.toString(16).padStart(12, '0');
      time = `${hex.slice(0, 8)}-${hex.slice(8)}-7`;
    }
    return `${time}${counter.toString(16).padStart(3, '0')}-${tail}`;
  };
}

const drawnAtOnce = 1024;
