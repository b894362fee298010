import type { Issue } from '@sallyport/core';

/**
 * Something wrong with a record. `malformed`: it is no OTLP, so nothing can be said about the rest of its message either.
 * `refused`: it can be read, and is not taken; OTLP answers that with a partial success.
 */
export interface Fault extends Issue {
  readonly kind: 'malformed' | 'refused';
}

/** Of one record or origin: enough to act on, and one of nonsense must not make an answer of megabytes. */
const maxFaults = 16;

/**
 * A judgement that is under way: where it stands, and what it found wrong. Values are many and faults are few: a path is put
 * together for a fault alone.
 */
export class Judging {
  readonly faults: Fault[] = [];
  /** Faults that were found, also those that were not kept. */
  found = 0;
  /** At least as many bytes as the strings and values since `begin` have as JSON. */
  size = 0;
  /** Something in it was passed over, whose depth nobody knows. */
  hasUnknown = false;
  readonly #path: (string | number)[];
  #room = maxFaults;

  /** `path`: where it stands at first. */
  constructor(...path: readonly string[]) {
    this.#path = [...path];
  }

  /** Begins with the next record or origin. */
  begin(): void {
    this.size = 0;
    this.#room = maxFaults;
  }

  /** Goes to a member or an item; `leave` goes back. */
  enter(segment: string | number): void {
    this.#path.push(segment);
  }

  leave(): void {
    this.#path.pop();
  }

  /** Notes what is wrong with `member` of where it stands, or with that itself; never the value. */
  complain(message: Issue['message'], kind: Fault['kind'] = 'malformed', member?: string): undefined {
    this.found += 1;
    if (this.#room-- <= 0) return;
    const path = member === undefined ? this.#path : [...this.#path, member];
    this.faults.push({ path: path.join('/'), message, kind });
  }

  /** What nobody knows is not looked into. */
  passOver(value: unknown): void {
    if (typeof value === 'object' && value !== null) this.hasUnknown = true;
  }
}
