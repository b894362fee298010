import { isJsonObject } from '@sallyport/core';
import {
  judgeAnyValue,
  judgeAttributes,
  judgeUint32,
  judgeUint64,
  type Complain,
  type Fault,
  type StoredAttribute,
  type StoredValue,
} from './any-value.ts';

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
const maxAttributes = 1024;
/** Of one record: enough to act on, and a record of nonsense must not make an answer of megabytes. */
const maxFaults = 16;

/**
 * Judges a record, and adds what is wrong with it to `faults`, under `path` (`events/17`). Written by hand, because this is
 * the hottest path of the service; core's `LogRecord` describes the same form. Unknown members are ignored, as OTLP has it.
 */
export function judgeLogRecord(
  value: unknown,
  path: string,
  receivedAt: number,
  faults: Fault[],
): TelemetryRecord | undefined {
  let found = 0;
  const complain: Complain = (at, message, kind = 'malformed') => {
    if (++found <= maxFaults) faults.push({ path: at, message, kind });
    return undefined;
  };
  if (!isJsonObject(value)) return complain(path, 'must be an object');

  const text = (name: string): string => {
    const of = value[name] ?? '';
    if (typeof of === 'string') return of.toWellFormed();
    complain(`${path}/${name}`, 'must be a text');
    return '';
  };
  const time = (name: string): string | null => {
    const digits = judgeUint64(value[name] ?? '0', `${path}/${name}`, complain);
    return digits === '0' ? null : (digits ?? null);
  };
  const id = (name: string, bytes: number): string | null => {
    const hex = value[name] ?? '';
    if (typeof hex === 'string' && /^[0-9a-f]*$/i.test(hex) && [0, bytes * 2].includes(hex.length))
      return /^0*$/.test(hex) ? null : hex.toLowerCase();
    complain(
      `${path}/${name}`,
      `must be ${bytes} bytes in hex`,
      typeof hex === 'string' ? 'refused' : undefined,
    );
    return null;
  };

  const observed = time('observedTimeUnixNano');
  const attributes = judgeAttributes(value['attributes'], `${path}/attributes`, complain) ?? [];
  if (attributes.length > maxAttributes)
    complain(`${path}/attributes`, `must be at most ${maxAttributes} attributes`, 'refused');
  const record: TelemetryRecord = {
    timeUnixNano: time('timeUnixNano') ?? observed ?? `${Math.trunc(receivedAt)}000000`,
    observedTimeUnixNano: observed,
    severityNumber: judgeSeverity(value['severityNumber'] ?? 0, `${path}/severityNumber`, complain),
    severityText: text('severityText'),
    body: isAbsent(value['body']) ? null : (judgeAnyValue(value['body'], `${path}/body`, complain) ?? null),
    attributes,
    droppedAttributesCount: judgeUint32(
      value['droppedAttributesCount'],
      `${path}/droppedAttributesCount`,
      complain,
    ),
    flags: judgeUint32(value['flags'], `${path}/flags`, complain),
    eventName: text('eventName') || eventNameOf(attributes),
    traceId: id('traceId', 16),
    spanId: id('spanId', 8),
  };
  if (found === 0 && Buffer.byteLength(JSON.stringify(record)) > maxRecordBytes)
    complain(path, 'must be at most 256 KiB', 'refused');
  return found === 0 ? record : undefined;
}

function eventNameOf(attributes: readonly StoredAttribute[]): string | null {
  const value = attributes.find(({ key }) => key === 'event.name')?.value;
  return value && 'stringValue' in value ? value.stringValue : null;
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

const severities = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

/** A number from 0 to 24, or its name in OTLP's enum: `SEVERITY_NUMBER_INFO`, `SEVERITY_NUMBER_ERROR3`. */
function judgeSeverity(value: unknown, path: string, complain: Complain): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 24) return value;
  if (value === 'SEVERITY_NUMBER_UNSPECIFIED') return 0;
  const [, name = '', step = '1'] =
    typeof value === 'string' ? (/^SEVERITY_NUMBER_([A-Z]+)([2-4])?$/.exec(value) ?? []) : [];
  const range = severities.indexOf(name);
  if (range >= 0) return range * 4 + Number(step);
  // Any other number is one that a later release of OTLP may give a meaning: an enum of protobuf is open.
  complain(path, 'must be a whole number from 0 to 24', Number.isInteger(value) ? 'refused' : undefined);
  return 0;
}
