/**
 * Text of other people as it may go to a terminal: what cannot be seen could steer it, or turn what stands beside it (UAX 9).
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_C}\p{Zl}\p{Zp}]/gu, ' ');
}

/**
 * JSON as it may go to a terminal: to programs it says the same. `JSON.stringify` escapes the controls of ASCII alone, and a
 * terminal takes those beyond it, too.
 */
export function printableJson(json: string): string {
  return json.replace(
    /[\x7f-\x9f\p{Bidi_C}\p{Zl}\p{Zp}]/gu,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
