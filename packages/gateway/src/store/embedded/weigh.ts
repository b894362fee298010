/** About how many bytes an act's argument takes while it waits, to within a factor of two. */
export function weigh(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  // A view is cloned with its whole buffer.
  if (ArrayBuffer.isView(value)) return value.buffer.byteLength;
  let sum = 16;
  if (Array.isArray(value)) for (const member of value) sum += weigh(member);
  else for (const key in value) sum += key.length + weigh((value as Record<string, unknown>)[key]);
  return sum;
}
