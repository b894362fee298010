/** What the slowest line that may follow takes in less time than a reader may take nothing: 30 s at 2 KB a second. */
const pieceBytes = 64 * 1024;

/** A text to be written piece by piece: the kernel tells of a write when it has all of it, so a large one looks stuck on a slow line. */
export function pieces(text: string): readonly (string | Buffer)[] {
  if (text.length * 3 <= pieceBytes) return [text]; // UTF-8 has at most three bytes a code unit
  const bytes = Buffer.from(text);
  const count = Math.ceil(bytes.length / pieceBytes);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * pieceBytes, (i + 1) * pieceBytes));
}
