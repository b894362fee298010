/**
 * `JSON.parse` without losing a digit: an integer that a double cannot hold exactly comes as its own text, which the rules
 * for 64-bit integers take as well. Several times slower, and few senders write such numbers: most write strings.
 */
export function parseExactly(text: string): unknown {
  return JSON.parse(text, keepDigits) as unknown;
}

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && Number.isInteger(value)
    ? (context?.source ?? value)
    : value;
}
