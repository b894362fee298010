import type { Clock, Random } from '@sallyport/core';

/** Makes version 7 UUIDs (RFC 9562 5.7). Those of one maker sort in the order in which they were made (6.2, method 1). */
export function createEventIds(clock: Clock, random: Random): () => string {
  let lastMs = 0;
  let counter = 0;
  return () => {
    const now = Math.trunc(clock.now());
    if (now > lastMs) {
      lastMs = now;
      counter = 0;
    } else if (++counter > 0xfff) {
      // More than 4,096 in a millisecond, or the clock went back: the next millisecond is borrowed.
      lastMs += 1;
      counter = 0;
    }
    const tail = Buffer.from(random.bytes(8));
    tail[0] = ((tail[0] ?? 0) & 0x3f) | 0x80;
    const time = lastMs.toString(16).padStart(12, '0');
    const noise = tail.toString('hex');
    const count = counter.toString(16).padStart(3, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${noise.slice(0, 4)}-${noise.slice(4)}`;
  };
}
