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
/** Longer texts are cut before they are looked at; an event has no room for them anyway. */
const maxChars = 128 * 1024;

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
  let dropped = 0;

  const attributes: KeyValue[] = [];
  for (const [key, value] of Object.entries(values)) {
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

  function toAnyValue(value: unknown): AnyValue {
    left -= 1;
    switch (typeof value) {
      case 'string':
        return { stringValue: toText(value, redactor) };
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
        return { stringValue: toText(String(value), redactor) };
    }
  }

  function toNested(value: object): AnyValue {
    if (value instanceof Date) return { stringValue: Number.isNaN(+value) ? '' : value.toISOString() };
    if (value instanceof Error) return { stringValue: toText(value.stack ?? value.message, redactor) };
    // What is in them cannot be looked through for secrets.
    if (value instanceof ArrayBuffer || ArrayBuffer.isView(value))
      return { stringValue: `[${value.byteLength} bytes]` };
    const said = saidBy(value);
    if (said !== undefined) return { stringValue: toText(said, redactor) };
    if (around.has(value)) return { stringValue: '[circular]' };
    if (around.size >= maxDepth - 1) return { stringValue: '[too deep]' };
    around.add(value);
    const list = value instanceof Set ? [...value] : value;
    const nested = Array.isArray(list)
      ? { arrayValue: { values: elements(list) } }
      : { kvlistValue: { values: members(list) } };
    around.delete(value);
    return nested;
  }

  function members(value: object): KeyValue[] {
    const list: KeyValue[] = [];
    for (const [key, of] of value instanceof Map ? value : Object.entries(value)) {
      if (left <= 0) break;
      if (of !== undefined) list.push(member(String(key), of));
    }
    return list;
  }

  function elements(value: readonly unknown[]): AnyValue[] {
    const list: AnyValue[] = [];
    for (const [index, of] of value.entries()) {
      if (left <= 0) break;
      const before: unknown = value[index - 1];
      list.push(typeof before === 'string' && isSecretBehind(before) ? hidden : toAnyValue(of));
    }
    return list;
  }
}

/** Makes one value, with the bounds of an attribute. */
export function toValue(value: unknown, redactor: Redactor): AnyValue {
  if (typeof value === 'string') return { stringValue: toText(value, redactor) };
  return toAttributes({ value }, redactor).attributes[0]?.value ?? {};
}

/** A text that is well-formed Unicode, bounded and redacted. */
export function toText(value: string, redactor: Pick<Redactor, 'text'>): string {
  return redactor.text(cut(value, maxChars).toWellFormed());
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
