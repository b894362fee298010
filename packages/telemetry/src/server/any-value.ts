import { isJsonObject, type Issue } from '@sallyport/core';

/** An OTLP AnyValue of which exactly one member is set, or none; an int64 is its decimal digits. */
export type StoredValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number | 'NaN' | 'Infinity' | '-Infinity' }
  | { readonly bytesValue: string }
  | { readonly arrayValue: { readonly values: readonly StoredValue[] } }
  | { readonly kvlistValue: { readonly values: readonly StoredAttribute[] } }
  | Readonly<Record<string, never>>;

export interface StoredAttribute {
  readonly key: string;
  readonly value: StoredValue;
}

/**
 * Something wrong with a record. `malformed`: it is no OTLP, so nothing can be said about the rest of its message either.
 * `refused`: it can be read, and is not taken; OTLP answers that with a partial success.
 */
export interface Fault extends Issue {
  readonly kind: 'malformed' | 'refused';
}

/** Collects what is wrong, with the path to it; malformed, if nothing is said. Never the value itself. */
export type Complain = (path: string, message: Issue['message'], kind?: Fault['kind']) => undefined;

/** How deep values may nest; what is deeper is a fault of its record. */
export const maxDepth = 32;
const uint32 = { min: 0n, max: 2n ** 32n - 1n };
const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const uint64 = { min: 0n, max: 2n ** 64n - 1n };

/** Judges an AnyValue; of several members the last one counts, as for a repeated oneof of protobuf. */
export function judgeAnyValue(
  value: unknown,
  path: string,
  complain: Complain,
  depth = 1,
): StoredValue | undefined {
  if (!isJsonObject(value)) return complain(path, 'must be a value object');
  if (depth > maxDepth) return complain(path, `must not be deeper than ${maxDepth} values`, 'refused');
  let judged: StoredValue | undefined = {};
  for (const [member, of] of Object.entries(value)) {
    if (of === null || of === undefined) continue; // absent, by protobuf's JSON mapping
    const judge = members[member];
    if (judge) judged = judge(of, `${path}/${member}`, complain, depth);
  }
  return judged;
}

/** Judges a list of KeyValue; `undefined` and `null` are empty ones. */
export function judgeAttributes(
  value: unknown,
  path: string,
  complain: Complain,
  depth = 1,
): StoredAttribute[] | undefined {
  return judgeList(value, path, complain, (item, at) => {
    if (!isJsonObject(item)) return complain(at, 'must be an object with key and value');
    const { key = '', value: of = {} } = item;
    if (typeof key !== 'string') return complain(`${at}/key`, 'must be a text');
    if (key === '') return complain(`${at}/key`, 'must not be empty', 'refused');
    const judged = judgeAnyValue(of ?? {}, `${at}/value`, complain, depth);
    return judged && { key: key.toWellFormed(), value: judged };
  });
}

/** Decimal digits of an int64 that came as text or number; exact, or an issue. */
function judgeInt64(value: unknown, path: string, complain: Complain): string | undefined {
  return judgeInteger(value, path, complain, int64);
}

/** The same for fixed64, such as a time. */
export function judgeUint64(value: unknown, path: string, complain: Complain): string | undefined {
  return judgeInteger(value, path, complain, uint64);
}

/** A uint32 or fixed32, such as a count; absent, by protobuf's JSON mapping, is 0. */
export function judgeUint32(value: unknown, path: string, complain: Complain): number {
  return Number(judgeInteger(value ?? 0, path, complain, uint32) ?? 0);
}

type Judge = (value: unknown, path: string, complain: Complain, depth: number) => StoredValue | undefined;

const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

const members: Readonly<Record<string, Judge>> = Object.assign(Object.create(null), {
  stringValue: (value, path, complain) =>
    typeof value === 'string' ? { stringValue: value.toWellFormed() } : complain(path, 'must be a text'),
  boolValue: (value, path, complain) =>
    typeof value === 'boolean' ? { boolValue: value } : complain(path, 'must be true or false'),
  intValue: (value, path, complain) => {
    const digits = judgeInt64(value, path, complain);
    return digits === undefined ? undefined : { intValue: digits };
  },
  doubleValue: (value, path, complain) => {
    if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return { doubleValue: value };
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    return typeof number === 'number' && Number.isFinite(number)
      ? { doubleValue: number || 0 } // not -0, which JSON writers lose
      : complain(path, 'must be a number');
  },
  bytesValue: (value, path, complain) =>
    typeof value === 'string' && base64.test(value)
      ? { bytesValue: Buffer.from(value, 'base64').toString('base64') }
      : complain(path, 'must be base64'),
  arrayValue: (value, path, complain, depth) => {
    if (!isJsonObject(value)) return complain(path, 'must be an object with values');
    const values = judgeList(value['values'], `${path}/values`, complain, (item, at) =>
      judgeAnyValue(item ?? {}, at, complain, depth + 1),
    );
    return values && { arrayValue: { values } };
  },
  kvlistValue: (value, path, complain, depth) => {
    if (!isJsonObject(value)) return complain(path, 'must be an object with values');
    const values = judgeAttributes(value['values'], `${path}/values`, complain, depth + 1);
    return values && { kvlistValue: { values } };
  },
} satisfies Record<string, Judge>) as Readonly<Record<string, Judge>>;

function judgeList<Item>(
  value: unknown,
  path: string,
  complain: Complain,
  judge: (item: unknown, path: string) => Item | undefined,
): Item[] | undefined {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return complain(path, 'must be an array');
  const judged: Item[] = [];
  for (const [index, item] of value.entries()) {
    const one = judge(item, `${path}/${index}`);
    if (one !== undefined) judged.push(one);
  }
  return judged;
}

function judgeInteger(
  value: unknown,
  path: string,
  complain: Complain,
  { min, max }: { readonly min: bigint; readonly max: bigint },
): string | undefined {
  const exact = toBigInt(value);
  if (exact === undefined) return complain(path, 'must be a whole number, as text beyond 2^53');
  return exact >= min && exact <= max ? String(exact) : complain(path, 'is out of range');
}

/** A JSON number beyond 2^53 has already lost digits when it comes here: taking it would store another one. */
function toBigInt(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== 'string' || value.length > 64) return undefined;
  if (/^-?\d{1,20}$/.test(value)) return BigInt(value);
  // `1e3` and `3.0` are whole numbers, too (protobuf's JSON mapping).
  const [, sign, whole = '', part = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/.exec(value) ?? [];
  if (sign === undefined) return undefined;
  const digits = (whole + part).replace(/^0+/, '');
  const point = digits.length - part.length + Number(power);
  if (digits === '') return 0n;
  if (point > 20 || /[1-9]/.test(digits.slice(Math.max(0, point)))) return undefined;
  return BigInt(sign + digits.slice(0, point).padEnd(point, '0'));
}
