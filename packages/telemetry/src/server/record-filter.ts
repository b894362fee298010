import type { StoredAttribute, StoredValue } from './any-value.ts';
import type { TelemetryRecord } from './log-record.ts';
import type { RecordGroup } from './logs-request.ts';
import type { AttributeMatch, RecordFilter } from './ports.ts';

/** Whether a record is meant, by all of a filter but the organization, the account and the time of receipt. */
export function isMeant(record: TelemetryRecord, group: RecordGroup, filter: RecordFilter): boolean {
  const { serviceName, eventName, traceId, minSeverity = 0, fromTime, toTime, attributes, text } = filter;
  return (
    record.severityNumber >= minSeverity &&
    (serviceName === undefined || group.serviceName === serviceName) &&
    (eventName === undefined || record.eventName === eventName) &&
    (traceId === undefined || record.traceId === traceId) &&
    (fromTime === undefined || !isBefore(record.timeUnixNano, fromTime)) &&
    (toTime === undefined || isBefore(record.timeUnixNano, toTime)) &&
    (attributes === undefined ||
      attributes.every((match) => hasAttribute(record.attributes, match) || isOfResource(group, match))) &&
    (text === undefined || hasText(record, text.toLowerCase()))
  );
}

/** Decimal digits compare as numbers do, once the longer ones are the larger ones. */
function isBefore(one: string, other: string): boolean {
  return one.length === other.length ? one < other : one.length < other.length;
}

function hasText({ body, attributes }: TelemetryRecord, sought: string): boolean {
  return (body !== null && holds(body, sought)) || attributes.some(({ value }) => holds(value, sought));
}

function isOfResource({ resource }: RecordGroup, match: AttributeMatch): boolean {
  return resource !== null && hasAttribute(resource.attributes, match);
}

function hasAttribute(
  attributes: readonly StoredAttribute[],
  { key, value, exact }: AttributeMatch,
): boolean {
  return attributes.some(
    (attribute) =>
      attribute.key === key &&
      ('stringValue' in attribute.value
        ? attribute.value.stringValue === value
        : !exact && firstText(attribute.value) === value),
  );
}

/** Whether a person would read it there: in its texts, numbers and booleans, at any depth. `sought` is in lower case. */
function holds(value: StoredValue, sought: string): boolean {
  if ('arrayValue' in value) return value.arrayValue.values.some((item) => holds(item, sought));
  if ('kvlistValue' in value) return value.kvlistValue.values.some((pair) => holds(pair.value, sought));
  return firstText(value)?.toLowerCase().includes(sought) ?? false;
}

function firstText(value: StoredValue): string | undefined {
  if ('stringValue' in value) return value.stringValue;
  if ('intValue' in value) return value.intValue;
  if ('boolValue' in value) return String(value.boolValue);
  if ('doubleValue' in value) return String(value.doubleValue);
  const inner = 'arrayValue' in value ? value.arrayValue.values : undefined;
  const items = inner ?? ('kvlistValue' in value ? value.kvlistValue.values.map((pair) => pair.value) : []);
  for (const item of items) {
    const text = firstText(item);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** `key=value` as people write it; in double quotes, the value is a text alone. Throws nothing: any text has a meaning. */
export function parseAttributeMatch(source: string): AttributeMatch {
  const at = source.indexOf('=');
  const [key, value] = [source.slice(0, at), source.slice(at + 1)];
  const exact = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  return { key, value: exact ? value.slice(1, -1) : value, exact };
}
