/**
 * Text of other people as it may go to a terminal: what cannot be seen could steer it, or turn what stands beside it (UAX 9).
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_C}\p{Zl}\p{Zp}]/gu, ' ');
}
