import type { StoredAttribute, StoredValue } from './any-value.ts';
import type { AttributeMatch, RecordFilter, StoredRecord } from './ports.ts';

type Searched = Pick<StoredRecord, 'body' | 'attributes' | 'resource'>;

/**
 * Whether a record has the attributes and the text of a filter: what a store cannot tell by its columns. Called by every
 * store, so that all of them find alike.
 */
export function hasContent(record: Searched, { attributes = [], text }: RecordFilter): boolean {
  if (!attributes.every((match) => hasAttribute(record, match))) return false;
  if (text === undefined) return true;
  const sought = text.toLowerCase();
  const found = (value: StoredValue) => textsOf(value).some((of) => of.toLowerCase().includes(sought));
  return (record.body !== null && found(record.body)) || record.attributes.some(({ value }) => found(value));
}

function hasAttribute({ attributes, resource }: Searched, { key, value, exact }: AttributeMatch): boolean {
  const isMeant = (attribute: StoredAttribute) =>
    attribute.key === key &&
    ('stringValue' in attribute.value
      ? attribute.value.stringValue === value
      : !exact && textsOf(attribute.value)[0] === value);
  return attributes.some(isMeant) || (resource?.attributes.some(isMeant) ?? false);
}

/** What a person would read of a value: its texts, numbers and booleans, at any depth. */
function textsOf(value: StoredValue): string[] {
  if ('stringValue' in value) return [value.stringValue];
  if ('intValue' in value) return [value.intValue];
  if ('boolValue' in value) return [String(value.boolValue)];
  if ('doubleValue' in value) return [String(value.doubleValue)];
  if ('arrayValue' in value) return value.arrayValue.values.flatMap(textsOf);
  if ('kvlistValue' in value) return value.kvlistValue.values.flatMap((pair) => textsOf(pair.value));
  return [];
}

/** `key=value` as people write it; in double quotes, the value is a text alone. Throws nothing: any text has a meaning. */
export function parseAttributeMatch(source: string): AttributeMatch {
  const at = source.indexOf('=');
  const [key, value] = [source.slice(0, at), source.slice(at + 1)];
  const exact = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  return { key, value: exact ? value.slice(1, -1) : value, exact };
}
