import { isJsonObject, severities } from '@sallyport/core';
import {
  judgeAnyValue,
  judgeAttributes,
  signBytes,
  type StoredAttribute,
  type StoredValue,
} from './any-value.ts';
import { judgeInteger, judgeUint32, uint64 } from './integers.ts';
import type { Judging } from './judging.ts';

/** One OTLP LogRecord, judged and in one form however it was written. Times are decimal nanoseconds since the epoch. */
export interface TelemetryRecord {
  readonly timeUnixNano: string;
  readonly observedTimeUnixNano: string | null;
  readonly severityNumber: number;
  readonly severityText: string;
  readonly body: StoredValue | null;
  readonly attributes: readonly StoredAttribute[];
  readonly droppedAttributesCount: number;
  /** W3C trace flags, in the lowest eight bits. */
  readonly flags: number;
  /** The field, or the attribute `event.name`. */
  readonly eventName: string | null;
  /** Lower-case hex. */
  readonly traceId: string | null;
  readonly spanId: string | null;
}

const maxRecordBytes = 256 * 1024;
export const maxAttributes = 1024;
/** More than all but the texts and values of a record, or of what it is of, have as JSON. */
export const restBytes = 512;

type Members = Readonly<Record<string, unknown>>;

/**
 * Judges a record, and notes what is wrong with it. Written by hand, because this is the hottest path of the service; core's
 * `LogRecord` describes the same form. Unknown members are ignored, as OTLP has it.
 */
export function judgeLogRecord(
  value: unknown,
  judging: Judging,
  receivedAt: number,
): TelemetryRecord | undefined {
  judging.begin();
  if (!isJsonObject(value)) return judging.complain('must be an object');
  const { found } = judging;
  const observed = judgeTime(value, 'observedTimeUnixNano', judging);
  const attributes = judgeAttributes(value['attributes'], judging) ?? [];
  if (attributes.length > maxAttributes)
    judging.complain(`must be at most ${maxAttributes} attributes`, 'refused', 'attributes');
  const record: TelemetryRecord = {
    timeUnixNano: judgeTime(value, 'timeUnixNano', judging) ?? observed ?? `${Math.trunc(receivedAt)}000000`,
    observedTimeUnixNano: observed,
    severityNumber: judgeSeverity(value['severityNumber'] ?? 0, judging),
    severityText: judgeText(value, 'severityText', judging),
    body: judgeBody(value['body'], judging),
    attributes,
    droppedAttributesCount: judgeUint32(value['droppedAttributesCount'], judging, 'droppedAttributesCount'),
    flags: judgeUint32(value['flags'], judging, 'flags'),
    eventName: judgeText(value, 'eventName', judging) || eventNameOf(attributes),
    traceId: judgeId(value, 'traceId', 16, judging),
    spanId: judgeId(value, 'spanId', 8, judging),
  };
  for (const member in value) if (!Object.hasOwn(record, member)) judging.passOver(value[member]);
  judging.size += restBytes + (record.eventName?.length ?? 0) * signBytes;
  if (
    judging.size > maxRecordBytes &&
    judging.found === found &&
    Buffer.byteLength(JSON.stringify(record)) > maxRecordBytes
  )
    judging.complain('must be at most 256 KiB', 'refused');
  return judging.found === found ? record : undefined;
}

export function judgeText(record: Members, member: string, judging: Judging): string {
  const text = record[member] ?? '';
  if (typeof text === 'string') {
    judging.size += text.length * signBytes;
    return text.toWellFormed();
  }
  judging.complain('must be a text', 'malformed', member);
  return '';
}

function judgeTime(record: Members, member: string, judging: Judging): string | null {
  const digits = judgeInteger(record[member] ?? '0', uint64, judging, member);
  return digits === undefined || digits === '0' ? null : digits;
}

function judgeBody(body: unknown, judging: Judging): StoredValue | null {
  if (body === undefined || body === null) return null;
  judging.enter('body');
  const judged = judgeAnyValue(body, judging);
  judging.leave();
  return judged ?? null;
}

function judgeId(record: Members, member: string, bytes: number, judging: Judging): string | null {
  const hex = record[member] ?? '';
  if (hex === '') return null;
  if (typeof hex === 'string' && hex.length === bytes * 2 && /^[0-9a-f]*$/i.test(hex))
    return /^0*$/.test(hex) ? null : hex.toLowerCase();
  judging.complain(
    `must be ${bytes} bytes in hex`,
    typeof hex === 'string' ? 'refused' : 'malformed',
    member,
  );
  return null;
}

function eventNameOf(attributes: readonly StoredAttribute[]): string | null {
  for (const { key, value } of attributes)
    if (key === 'event.name') return 'stringValue' in value ? value.stringValue : null;
  return null;
}

const leastOf = new Map(Object.entries(severities).map(([name, least]) => [name.toUpperCase(), least]));

/** A number from 0 to 24, or its name in OTLP's enum: `SEVERITY_NUMBER_INFO`, `SEVERITY_NUMBER_ERROR3`. */
function judgeSeverity(value: unknown, judging: Judging): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 24) return value || 0; // not -0
  if (value === 'SEVERITY_NUMBER_UNSPECIFIED') return 0;
  const [, name = '', step = '1'] =
    typeof value === 'string' ? (/^SEVERITY_NUMBER_([A-Z]+)([2-4])?$/.exec(value) ?? []) : [];
  const least = leastOf.get(name);
  if (least !== undefined) return least + Number(step) - 1;
  // Any other number is one that a later release of OTLP may give a meaning: an enum of protobuf is open.
  judging.complain(
    'must be a whole number from 0 to 24',
    Number.isInteger(value) ? 'refused' : 'malformed',
    'severityNumber',
  );
  return 0;
}
