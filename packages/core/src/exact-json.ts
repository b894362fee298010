/**
 * A reviver for `JSON.parse` that loses no digit: an integer that a double cannot hold exactly comes as its own text, which the
 * rules for 64-bit integers take as well. Parsing with it is several times slower, and few senders write such numbers: most
 * write strings.
 */
export function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && Number.isInteger(value)
    ? (context?.source ?? value)
    : value;
}

/** Whether a JSON text may have a number whose digits a double cannot hold, or one that is written with an exponent. */
export function mayLoseDigits(text: string): boolean {
  return /[:[,]\s*-?(?:[\d.]{16}|[\d.]+[eE])/.test(text);
}
