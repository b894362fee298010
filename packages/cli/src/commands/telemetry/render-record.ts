import { severities, severityNameOf } from '@sallyport/core';
import type { AnyValue, TelemetryRecord } from '@sallyport/core/contract';
import { printable } from '../../io/printable.ts';
import type { Terminal } from '../../io/terminal.ts';

/** Attributes that the line shows by themselves, or that tell a person nothing. */
const told: ReadonlySet<string> = new Set(['event.name', 'event.id', 'service.name']);

/** A record as one line: when, how severe, of which service, its name, body and attributes; and whose, where that is asked. */
export function renderRecord(
  { record, received_at: receivedAt, service_name: service, ...sender }: TelemetryRecord,
  terminal: Pick<Terminal, 'style'>,
  { isWithAccount = false } = {},
): string {
  const severityNumber = record.severityNumber ?? 0;
  const severityName = record.severityText || (severityNameOf(severityNumber) ?? '-');
  const severity = severityName.toUpperCase().slice(0, 5).padEnd(5);
  const eventName = record['eventName'];
  const attributes = (record.attributes ?? []).filter(({ key }) => !told.has(key));
  const parts = [
    terminal.style('dim', timeOf(record.timeUnixNano, receivedAt)),
    terminal.style(colourOf(severityNumber), printable(severity)),
    terminal.style('cyan', printable(service)),
    isWithAccount ? terminal.style('dim', printable(sender.account_email ?? sender.account_id)) : '',
    terminal.style('bold', printable(typeof eventName === 'string' ? eventName : '')),
    printable(textOf(record.body)),
    ...attributes.map(
      ({ key, value }) => terminal.style('dim', printable(`${key}=`)) + printable(textOf(value)),
    ),
  ];
  return parts.filter((part) => part !== '').join('  ');
}

/** By the sender's clock, where it can be shown; ISO 8601, because people compare it with other logs. */
function timeOf(nanos: string | undefined, receivedAt: string): string {
  const ms = Number(nanos ?? NaN) / 1e6;
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : receivedAt;
}

function colourOf(severityNumber: number): 'red' | 'yellow' | 'green' | 'dim' {
  if (severityNumber >= severities.error) return 'red';
  if (severityNumber >= severities.warn) return 'yellow';
  return severityNumber >= severities.info ? 'green' : 'dim';
}

/** What a person reads of a value: a text as it is, lists and maps as JSON. */
function textOf(value: AnyValue | undefined): string {
  const plain = plainOf(value);
  return typeof plain === 'string' ? plain : plain === null ? '' : JSON.stringify(plain);
}

function plainOf(value: AnyValue | undefined): unknown {
  if (value === undefined) return null;
  const { arrayValue, kvlistValue, ...scalar } = value;
  if (arrayValue) return listOf(arrayValue).map((item) => plainOf(item as AnyValue));
  if (kvlistValue)
    return Object.fromEntries(
      (listOf(kvlistValue) as { key: string; value?: AnyValue }[]).map((pair) => [
        pair.key,
        plainOf(pair.value),
      ]),
    );
  return integerOf(scalar['intValue']) ?? Object.values(scalar)[0] ?? null;
}

/** OTLP's JSON has integers as texts; one that a double cannot hold stays what it is. */
function integerOf(value: unknown): number | undefined {
  const integer = typeof value === 'string' && value !== '' ? Number(value) : NaN;
  return Number.isSafeInteger(integer) ? integer : undefined;
}

function listOf(holder: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Array.isArray(holder['values']) ? holder['values'] : [];
}
