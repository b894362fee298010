import { pieceOf, type ByteWriter, type Piece } from './byte-writer.ts';
import { maxKeptChars, QuotedTexts } from './quoted-texts.ts';
import type { Redactor } from './redact.ts';

/** Writes attributes as members of OTLP's JSON array, a comma before each; `false`: not such simple ones, or too many. */
export type WriteAttributes = (values: Readonly<Record<string, unknown>>, into: ByteWriter) => boolean;

const maxAttributes = 200;
/** Names come again and again: what they are written as is kept, for so many short ones. */
const maxKeptNames = 500;

/** What is known of a name. */
interface Known {
  readonly key: string;
  readonly isLeftOut: boolean;
  /** The whole attribute with a word for its value, where its name says that this may be a secret. */
  readonly hidden: Piece | undefined;
  readonly texts: QuotedTexts;
  readonly yes: Piece;
  readonly no: Piece;
  /** The attribute up to its number. */
  readonly int: Piece;
  readonly double: Piece;
}

const closeInt = pieceOf('"}}');
const close = pieceOf('}}');

/**
 * The short way for what nearly every event has, texts, numbers and flags: no objects are made only to be written, which
 * is most of what an event costs. `toAttributes` and `JSON.stringify` write the same, and do all the rest.
 */
export function createAttributesWriter(
  redactor: Redactor,
  isAllowed: (name: string) => boolean,
): WriteAttributes {
  const names = new Map<string, Known>();
  /** Of the event before, which mostly had the same names in the same order. */
  const before: Known[] = [];

  function look(key: string): Known {
    const head = `,{"key":${JSON.stringify(redactor.text(key))},"value":{`;
    const isLeftOut = key === '' || !isAllowed(key);
    const hidden = redactor.isSecret(key) ? `${head}"stringValue":"[redacted]"}}` : undefined;
    const known = {
      key,
      isLeftOut,
      hidden: hidden === undefined ? undefined : pieceOf(hidden),
      texts: new QuotedTexts(redactor, `${head}"stringValue":`, '}}'),
      yes: pieceOf(`${head}"boolValue":true}}`),
      no: pieceOf(`${head}"boolValue":false}}`),
      int: pieceOf(`${head}"intValue":"`),
      double: pieceOf(`${head}"doubleValue":`),
    };
    if (names.size < maxKeptNames) names.set(key, known);
    return known;
  }

  function writeNumber({ int, double }: Known, value: number, into: ByteWriter): void {
    if (Number.isSafeInteger(value)) {
      into.piece(int);
      if (value >= 0 && value < 2 ** 31) into.digits(value);
      else into.ascii(String(value));
      into.piece(closeInt);
    } else {
      into.piece(double);
      into.ascii(Number.isFinite(value) ? String(value) : `"${value}"`);
      into.piece(close);
    }
  }

  return (values, into) => {
    let index = 0;
    // What a captured copy inherits is not enumerable; its keys as a list, and a look-up for each, would cost more than the copying.
    for (const key in values) {
      if (index === maxAttributes) return false;
      const value = values[key];
      if (value === undefined) continue;
      if (key.length > maxKeptChars) return false;
      let known = before[index];
      if (known?.key !== key) before[index] = known = names.get(key) ?? look(key);
      index += 1;
      if (known.isLeftOut) continue;
      if (known.hidden && redactor.isSecret(key, value)) into.piece(known.hidden);
      else if (typeof value === 'string') known.texts.write(value, into);
      else if (typeof value === 'number') writeNumber(known, value, into);
      else if (typeof value === 'boolean') into.piece(value ? known.yes : known.no);
      else return false;
    }
    return true;
  };
}
