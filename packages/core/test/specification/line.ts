/**
 * The notation of the tables beside this file: one line per endpoint, written
 * down by hand from the specification. Plain data on purpose: nothing here
 * imports the contract, so that a mistake in the contract cannot be copied.
 */

/** `stated`: the text says "required". `shown`: listed, no word on it. `optional`: the text says so. */
export type Presence = 'stated' | 'shown' | 'optional';

export type FieldType =
  'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'array of string' | 'file';

/** One body field or query member; `path` is dotted, `[]` enters the items of an array. */
export interface FieldLine {
  readonly path: string;
  readonly type: FieldType;
  readonly presence: Presence;
  /** The values the text allows; a value outside them must be refused. */
  readonly values?: readonly string[];
  readonly default?: string | number;
  /** One that fits, where the text does not show that not every value of the type does. */
  readonly sample?: string;
  /** The most items of an array, or characters of a string. */
  readonly most?: number;
}

/** `<...>` as a value: any text. */
export interface HeaderLine {
  readonly name: string;
  readonly value: string;
  readonly presence: Presence;
}

export type CredentialLine = 'none' | 'session key' | 'access token' | 'worker jwt';

export interface SpecificationLine {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly credential: CredentialLine;
  /** Every header but `Authorization`, which `credential` speaks of. */
  readonly headers: readonly HeaderLine[];
  /** Path parameters, all strings. */
  readonly params: readonly string[];
  readonly query: readonly FieldLine[];
  /** `none`: no body. `empty object`: `{}`. Token: one list per grant type. */
  readonly body:
    | 'none'
    | 'empty object'
    | 'not shown'
    | readonly FieldLine[]
    | Readonly<Record<string, readonly FieldLine[]>>;
  /** Only the success statuses that the text states. */
  readonly success: readonly number[];
  readonly response: 'not shown' | 'plain text' | 'stream' | readonly FieldLine[];
  /** The row of the Errors part; `no line` where that part has none. */
  readonly errors: readonly number[] | 'no line';
}

const field =
  (presence: Presence) =>
  (path: string, type: FieldType, more: Partial<FieldLine> = {}): FieldLine => ({
    path,
    type,
    presence,
    ...more,
  });

export const shown = field('shown');
export const stated = field('stated');
export const optional = field('optional');

export const jsonContent = (presence: Presence): HeaderLine => ({
  name: 'content-type',
  value: 'application/json',
  presence,
});

export const header = (name: string, value: string): HeaderLine => ({
  name,
  value,
  presence: 'stated',
});
