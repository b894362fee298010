import type { AnyValue } from '@sallyport/core/contract';
import type { Redactor } from './redact.ts';
import { isSecretBehind } from './secret-names.ts';

export interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

const hidden: AnyValue = { stringValue: '[redacted]' };
/** OTLP decoders refuse deeper values; ours does too. */
const maxDepth = 32;
/** All texts of an event: what is longer is cut before it is looked at, for an event has no room for it anyway. */
const maxChars = 128 * 1024;
/** So much of each text is taken where those before it took all of that. */
const leastChars = 256;

/**
 * Makes the attributes of one event, those that are allowed. At most `maxValues` values, members of nested ones included, are taken; `dropped`
 * counts the top-level ones that were not. Accessors run here: they may throw.
 */
export function toAttributes(
  values: Readonly<Record<string, unknown>>,
  redactor: Redactor,
  isAllowed: (name: string) => boolean = () => true,
  maxValues = 1000,
): { readonly attributes: KeyValue[]; readonly dropped: number } {
  const around = new Set<object>();
  let left = maxValues;
  let leftChars = maxChars;
  let dropped = 0;

  const attributes: KeyValue[] = [];
  for (const key of Object.keys(values)) {
    const value = values[key];
    if (value === undefined || key === '' || !isAllowed(key)) continue;
    if (left <= 0) dropped += 1;
    else attributes.push(member(key, value));
  }
  return { attributes, dropped };

  function member(name: string, value: unknown): KeyValue {
    const key = redactor.text(cut(name, 1024));
    if (!redactor.isSecret(name, value)) return { key, value: toAnyValue(value) };
    left -= 1;
    return { key, value: hidden };
  }

  function toTextValue(text: string): AnyValue {
    const chars = Math.max(leftChars, leastChars);
    leftChars -= Math.min(text.length, chars);
    return { stringValue: toText(text, redactor, chars) };
  }

  function toAnyValue(value: unknown): AnyValue {
    left -= 1;
    switch (typeof value) {
      case 'string':
        return toTextValue(value);
      case 'boolean':
        return { boolValue: value };
      case 'bigint':
        return fitsInt64(value) ? { intValue: String(value) } : { stringValue: String(value) };
      case 'number':
        if (Number.isSafeInteger(value)) return { intValue: String(value) };
        return { doubleValue: Number.isFinite(value) ? value : String(value) };
      case 'object':
        return value === null ? {} : toNested(value);
      default:
        return toTextValue(String(value));
    }
  }

  function toNested(value: object): AnyValue {
    if (value instanceof Date) return { stringValue: Number.isNaN(+value) ? '' : value.toISOString() };
    // A stack is what `Error.prepareStackTrace` of the program makes it.
    if (value instanceof Error)
      return toTextValue(typeof value.stack === 'string' ? value.stack : String(value));
    // What is in them cannot be looked through for secrets.
    if (value instanceof ArrayBuffer || ArrayBuffer.isView(value))
      return { stringValue: `[${value.byteLength} bytes]` };
    const said = saidBy(value);
    if (said !== undefined) return toTextValue(said);
    if (around.has(value)) return { stringValue: '[circular]' };
    if (around.size >= maxDepth - 1) return { stringValue: '[too deep]' };
    around.add(value);
    const nested =
      Array.isArray(value) || value instanceof Set
        ? { arrayValue: { values: elements(value) } }
        : { kvlistValue: { values: members(value) } };
    around.delete(value);
    return nested;
  }

  function members(value: object): KeyValue[] {
    const list: KeyValue[] = [];
    for (const [key, of] of value instanceof Map ? value : entriesOf(value)) {
      if (left <= 0) break;
      if (of !== undefined) list.push(member(String(key), of));
    }
    return list;
  }

  function elements(values: Iterable<unknown>): AnyValue[] {
    const list: AnyValue[] = [];
    let before: unknown;
    for (const of of values) {
      if (left <= 0) break;
      list.push(typeof before === 'string' && isSecretBehind(before) ? hidden : toAnyValue(of));
      before = of;
    }
    return list;
  }
}

/** One after the other: of very many only the first are asked for. */
function* entriesOf(value: object): Iterable<[string, unknown]> {
  for (const key of Object.keys(value)) yield [key, Reflect.get(value, key)];
}

/** Makes one value, with the bounds of an attribute. */
export function toValue(value: unknown, redactor: Redactor): AnyValue {
  if (typeof value === 'string') return { stringValue: toText(value, redactor) };
  return toAttributes({ value }, redactor).attributes[0]?.value ?? {};
}

/** A text that is well-formed Unicode, bounded and redacted. */
export function toText(value: string, redactor: Pick<Redactor, 'text'>, chars = maxChars): string {
  const kept = cut(value, chars);
  const text = redactor.text(kept.toWellFormed());
  return kept === value ? text : text + cutMark(value, kept);
}

/** What stands behind a text of which only the beginning is kept. */
export function cutMark(whole: string, kept: string): string {
  return `...[truncated ${String(Buffer.byteLength(whole) - Buffer.byteLength(kept))} bytes]`;
}

/** At most `chars` UTF-16 units, never half a character. */
export function cut(value: string, chars: number): string {
  if (value.length <= chars) return value;
  const last = value.charCodeAt(chars - 1);
  return value.slice(0, last >= 0xd800 && last < 0xdc00 ? chars - 1 : chars);
}

/** Of an object that is no more than what it says, such as a URL, an expression or a boxed text; else `undefined`. */
function saidBy(value: object): string | undefined {
  const says: unknown = Reflect.get(value, 'toString');
  if (typeof says !== 'function' || says === Object.prototype.toString || Array.isArray(value))
    return undefined;
  const isNoMore = value instanceof String || Object.keys(value).length === 0;
  return isNoMore ? String(says.call(value)) : undefined;
}

function fitsInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}
