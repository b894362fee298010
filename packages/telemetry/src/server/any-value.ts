import { isJsonObject } from '@sallyport/core';
import { int64, judgeInteger } from './integers.ts';
import type { Judging } from './judging.ts';

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

/** How deep values may nest; what is deeper is a fault of its record. */
export const maxDepth = 32;
/** More than the braces, names and digits of a value have as JSON. */
const valueBytes = 80;
/** Of the sign that JSON writes longest. */
export const signBytes = 6;

// What has the stored form already is given back as it is, object for object: that is nearly everything, and copying it
// costs as much as judging it. So what is judged must not be changed afterwards.

const absent: StoredValue = {};

/** Judges an AnyValue; of several members the last one counts, as for a repeated oneof of protobuf. */
export function judgeAnyValue(value: unknown, judging: Judging, depth = 1): StoredValue | undefined {
  if (!isJsonObject(value)) return judging.complain('must be a value object');
  if (depth > maxDepth) return judging.complain(`must not be deeper than ${maxDepth} values`, 'refused');
  judging.size += valueBytes;
  let judged: StoredValue | undefined = absent;
  let last = '';
  let members = 0;
  for (const member in value) {
    if (!Object.hasOwn(value, member)) continue;
    members += 1;
    const of = value[member];
    if (of === null || of === undefined) continue; // absent, by protobuf's JSON mapping
    const one = judgeMember(value, member, of, judging, depth);
    if (one === absent) continue;
    judged = one;
    last = member;
  }
  return judged === value && members > 1 ? ({ [last]: value[last] } as unknown as StoredValue) : judged;
}

/** Gives `value` back where this member of it has the stored form, and `absent` where it is an unknown one. */
function judgeMember(
  value: Readonly<Record<string, unknown>>,
  member: string,
  of: unknown,
  judging: Judging,
  depth: number,
): StoredValue | undefined {
  const itself = value as StoredValue;
  switch (member) {
    case 'stringValue':
      if (typeof of !== 'string') return judging.complain('must be a text', 'malformed', member);
      judging.size += of.length * signBytes;
      return of.isWellFormed() ? itself : { stringValue: of.toWellFormed() };
    case 'boolValue':
      return typeof of === 'boolean'
        ? itself
        : judging.complain('must be true or false', 'malformed', member);
    case 'intValue': {
      const digits = judgeInteger(of, int64, judging, member);
      if (digits === undefined) return undefined;
      return digits === of ? itself : { intValue: digits };
    }
    case 'doubleValue':
      return judgeDouble(itself, of, judging);
    case 'bytesValue': {
      if (typeof of !== 'string' || !base64.test(of))
        return judging.complain('must be base64', 'malformed', member);
      judging.size += of.length + signBytes;
      const bytesValue = Buffer.from(of, 'base64').toString('base64');
      return bytesValue === of ? itself : { bytesValue };
    }
    case 'arrayValue': {
      const values = judgeValues(of, judging, member, (item) =>
        judgeAnyValue(item ?? {}, judging, depth + 1),
      );
      return values && { arrayValue: { values } };
    }
    case 'kvlistValue': {
      const values = judgeValues(of, judging, member, (item) => judgeKeyValue(item, judging, depth + 1));
      return values && { kvlistValue: { values } };
    }
    default:
      judging.passOver(of);
      return absent;
  }
}

const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

function judgeDouble(itself: StoredValue, of: unknown, judging: Judging): StoredValue | undefined {
  if (of === 'NaN' || of === 'Infinity' || of === '-Infinity') return itself;
  const number = typeof of === 'string' && of.trim() !== '' ? Number(of) : of;
  if (typeof number !== 'number' || !Number.isFinite(number))
    return judging.complain('must be a number', 'malformed', 'doubleValue');
  // Not -0, which JSON writers lose.
  return number === of && !Object.is(number, -0) ? itself : { doubleValue: number || 0 };
}

/** Judges a list of KeyValue, the member of where the judgement stands; `undefined` and `null` are empty ones. */
export function judgeAttributes(
  value: unknown,
  judging: Judging,
  depth = 1,
): readonly StoredAttribute[] | undefined {
  return judgeList(value, judging, 'attributes', (item) => judgeKeyValue(item, judging, depth));
}

function judgeKeyValue(item: unknown, judging: Judging, depth: number): StoredAttribute | undefined {
  if (!isJsonObject(item)) return judging.complain('must be an object with key and value');
  const { key = '', value } = item;
  if (typeof key !== 'string') return judging.complain('must be a text', 'malformed', 'key');
  if (key === '') return judging.complain('must not be empty', 'refused', 'key');
  judging.size += key.length * signBytes;
  judging.enter('value');
  const judged = judgeAnyValue(value ?? absent, judging, depth);
  judging.leave();
  const isWhole = hasOnlyKeyAndValue(item, judging) && judged === item['value'] && key.isWellFormed();
  if (judged === undefined) return undefined;
  return isWhole ? (item as unknown as StoredAttribute) : { key: key.toWellFormed(), value: judged };
}

function hasOnlyKeyAndValue(item: Readonly<Record<string, unknown>>, judging: Judging): boolean {
  let isSo = true;
  for (const member in item)
    if (member !== 'key' && member !== 'value') {
      judging.passOver(item[member]);
      isSo = false;
    }
  return isSo;
}

function judgeValues<Item>(
  of: unknown,
  judging: Judging,
  member: string,
  judge: (item: unknown) => Item | undefined,
): readonly Item[] | undefined {
  if (!isJsonObject(of)) return judging.complain('must be an object with values', 'malformed', member);
  for (const name in of) if (name !== 'values') judging.passOver(of[name]);
  judging.enter(member);
  const values = judgeList(of['values'], judging, 'values', judge);
  judging.leave();
  return values;
}

/** Gives the list itself back where each item of it is as it was. */
function judgeList<Item>(
  value: unknown,
  judging: Judging,
  member: string,
  judge: (item: unknown) => Item | undefined,
): readonly Item[] | undefined {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return judging.complain('must be an array', 'malformed', member);
  const list = value as readonly unknown[];
  let judged: Item[] | undefined;
  judging.enter(member);
  for (let index = 0; index < list.length; index++) {
    const item = list[index];
    judging.enter(index);
    const one = judge(item);
    judging.leave();
    if (judged === undefined && one !== item) judged = list.slice(0, index) as Item[];
    if (judged !== undefined && one !== undefined) judged.push(one);
  }
  judging.leave();
  return judged ?? (list as readonly Item[]);
}
