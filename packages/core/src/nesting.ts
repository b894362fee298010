/** Deeper JSON is refused wherever it comes in: whatever walks it later, by recursion, must not run out of stack. */
const maxDepth = 256;

/**
 * So many objects, lists, items and members a JSON text may have: one for eight bytes of the largest body. What people send has
 * half of that; eight megabytes of empty objects would take gigabytes of memory, and seconds in which nobody else is served.
 */
export const maxBodyValues = 1024 ** 2;

/**
 * So many different names its members may have, if it is large: a form has some dozens, and a name that is new costs ten times what
 * a value does. What is not large has no room for enough of them to matter.
 */
export const maxBodyNames = 32 * 1024;
const largeText = 1024 ** 2;

/** Why a JSON text is more than the service takes, which is seen without parsing it. */
type JsonExcess = 'depth' | 'values' | 'names';

/** `undefined`: neither, or it is no JSON. */
export function jsonExcess(text: string): JsonExcess | undefined {
  return excessOf(text, maxBodyValues, text.length > largeText ? new Set() : undefined);
}

/** Whether a JSON text nests deeper than the service takes. */
export function nestsTooDeep(text: string): boolean {
  return excessOf(text, Infinity) === 'depth';
}

function excessOf(text: string, maxValues: number, names?: Set<string>): JsonExcess | undefined {
  let depth = 0;
  let values = 0;
  let quote = -1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      quote = at;
      at = endOfString(text, at);
    } else if (code === 0x2c) {
      if (++values > maxValues) return 'values';
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > maxDepth) return 'depth';
      if (++values > maxValues) return 'values';
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
    else if (code === 0x3a && quote >= 0 && names) {
      if (names.add(text.slice(quote, at)).size > maxBodyNames) return 'names';
      quote = -1;
    }
  }
  return undefined;
}

function endOfString(text: string, quote: number): number {
  for (let at = quote + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at += 1;
    else if (code === 0x22) return at;
  }
  return text.length;
}
