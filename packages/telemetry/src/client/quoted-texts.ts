import { toText } from './any-value.ts';
import { isPlainText, pieceOf, type ByteWriter, type Piece } from './byte-writer.ts';
import type { Redactor } from './redact.ts';

const maxKept = 100;
/** No text that `toText` would cut. */
const maxPlainChars = 1024;
export const maxKeptChars = 64;

/**
 * Writes the texts of one place in an event, between what stands before and after them. Most places have the same few
 * texts again and again: what those are written as is kept.
 */
export class QuotedTexts {
  readonly #redactor: Pick<Redactor, 'text'>;
  readonly #before: Piece;
  readonly #after: Piece;
  /** `undefined`: there are too many different ones, such as ids. */
  #kept: Map<string, Piece> | undefined = new Map();
  /** The one of those that was written last: mostly the next one, too. */
  #last: string | undefined;
  #lastWritten: Piece;

  constructor(redactor: Pick<Redactor, 'text'>, before: string, after: string) {
    this.#redactor = redactor;
    this.#before = pieceOf(before);
    this.#after = pieceOf(after);
    this.#lastWritten = this.#after;
  }

  write(value: string, into: ByteWriter): void {
    if (value === this.#last) return into.piece(this.#lastWritten);
    const kept = this.#kept?.get(value);
    if (kept) {
      this.#last = value;
      this.#lastWritten = kept;
      return into.piece(kept);
    }
    const start = into.length;
    const isPlain = value.length <= maxPlainChars && isPlainText(value);
    const text = isPlain ? this.#redactor.text(value) : toText(value, this.#redactor);
    into.piece(this.#before);
    if (isPlain && text === value) into.plain(text);
    else into.quoted(text);
    into.piece(this.#after);
    // Never a secret: one that was taken out would live on here.
    if (this.#kept && value.length <= maxKeptChars && text === value) this.#keep(value, into.copy(start));
  }

  #keep(value: string, written: Piece): void {
    if (this.#kept?.size === maxKept) this.#kept = undefined;
    else this.#kept?.set(value, written);
  }
}
