/** Deeper JSON is refused wherever it comes in: whatever walks it later, by recursion, must not run out of stack. */
const maxDepth = 256;

/**
 * So many objects, lists, items and members a JSON text may have: one for eight bytes of the largest body. What people send has
 * half of that; eight megabytes of empty objects would take gigabytes of memory, and seconds in which nobody else is served.
 */
export const maxBodyValues = 1024 ** 2;

/** Why a JSON text is more than the service takes, which is seen without parsing it. */
type JsonExcess = 'depth' | 'values';

/** `undefined`: neither, or it is no JSON. */
export function jsonExcess(text: string): JsonExcess | undefined {
  return excessOf(text, maxBodyValues);
}

/** Whether a JSON text nests deeper than the service takes. */
export function nestsTooDeep(text: string): boolean {
  return excessOf(text, Infinity) === 'depth';
}

function excessOf(text: string, maxValues: number): JsonExcess | undefined {
  let depth = 0;
  let values = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x2c) {
      if (++values > maxValues) return 'values';
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > maxDepth) return 'depth';
      if (++values > maxValues) return 'values';
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return undefined;
}
