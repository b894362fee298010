import { nestsTooDeep } from '@sallyport/core';

/** A number that `JSON.parse` may round: sixteen digits, or an exponent that makes it as large. */
const mayRound = /[:[,]\s*-?(?:\d{16,}|[\d.]+[eE]\+?\d)/;

/**
 * Parses OTLP's JSON without losing a digit: a number that a double cannot hold exactly comes as its own text, which the
 * rules for 64-bit integers take as well. Throws `SyntaxError`, also where it nests deeper than the service takes.
 */
export function parseOtlpJson(bytes: Uint8Array): unknown {
  // Not fatal: a bad text must not lose a batch.
  const text = new TextDecoder().decode(bytes);
  if (nestsTooDeep(text)) throw new SyntaxError('nests too deeply');
  try {
    // The reviver makes it several times slower, and few senders write such numbers: most write strings.
    return JSON.parse(text, mayRound.test(text) ? keepDigits : undefined) as unknown;
  } catch (cause) {
    throw new SyntaxError('not JSON', { cause });
  }
}

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && Number.isInteger(value)
    ? (context?.source ?? value)
    : value;
}
