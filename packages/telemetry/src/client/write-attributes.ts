import { toText } from './any-value.ts';
import type { Redactor } from './redact.ts';

/** Writes attributes as the inside of OTLP's JSON array; `undefined`: not such simple ones, or too many. */
export type WriteAttributes = (values: Readonly<Record<string, unknown>>) => string | undefined;

const maxAttributes = 200;
/** Names and values come again and again: what they are written as is kept, for so many short ones. */
const maxKeptNames = 500;
const maxKeptTexts = 100;
const maxKeptChars = 64;

/** What is known of a name. */
interface Known {
  /** The attribute up to the member of its value. */
  readonly head: string;
  readonly int: string;
  /** The whole attribute, where its name tells that its value must not be; `''`: it is left out. */
  readonly instead: string | undefined;
  /** Whole attributes by their text. */
  readonly texts: Map<string, string>;
}

/**
 * The short way for what nearly every event has, texts, numbers and flags: no objects are made only to be written, which
 * is most of what an event costs. `toAttributes` and `JSON.stringify` write the same, and do all the rest.
 */
export function createAttributesWriter(
  redactor: Redactor,
  isAllowed: (name: string) => boolean,
): WriteAttributes {
  const names = new Map<string, Known>();

  function look(key: string): Known {
    const head = `{"key":${JSON.stringify(redactor.text(key))},"value":{`;
    const isLeftOut = key === '' || !isAllowed(key);
    const instead = isLeftOut
      ? ''
      : redactor.isSecret(key)
        ? `${head}"stringValue":"[redacted]"}}`
        : undefined;
    const known = { head, int: `${head}"intValue":"`, instead, texts: new Map<string, string>() };
    if (names.size < maxKeptNames) names.set(key, known);
    return known;
  }

  function writeText({ head, texts }: Known, value: string): string {
    const text = toText(value, redactor);
    const written = `${head}"stringValue":${JSON.stringify(text)}}}`;
    // Never a secret: one that was taken out would live on here.
    if (value.length <= maxKeptChars && text === value) {
      if (texts.size >= maxKeptTexts) texts.clear();
      texts.set(value, written);
    }
    return written;
  }

  function write(known: Known, value: unknown): string | undefined {
    if (known.instead !== undefined) return known.instead;
    switch (typeof value) {
      case 'string':
        return known.texts.get(value) ?? writeText(known, value);
      case 'boolean':
        return `${known.head}"boolValue":${value}}}`;
      case 'number':
        if (Number.isSafeInteger(value)) return `${known.int}${value}"}}`;
        return `${known.head}"doubleValue":${Number.isFinite(value) ? value : `"${value}"`}}}`;
      default:
        return undefined;
    }
  }

  return (values) => {
    const keys = Object.keys(values);
    if (keys.length > maxAttributes) return undefined;
    let json = '';
    for (const key of keys) {
      const value = values[key];
      if (value === undefined) continue;
      if (key.length > maxKeptChars) return undefined;
      const attribute = write(names.get(key) ?? look(key), value);
      if (attribute === undefined) return undefined;
      if (attribute !== '') json += json === '' ? attribute : `,${attribute}`;
    }
    return json;
  };
}
