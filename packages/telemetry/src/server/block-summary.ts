import { crc32 } from 'node:zlib';
import type { RecordGroup } from './logs-request.ts';
import type { Place, RecordFilter, StoredBlock } from './ports.ts';

/**
 * What a block has, as JSON of some hundred bytes: enough to pass over those that have nothing of what is sought, and to
 * count without decoding. What would be too much is left out.
 */
interface Summary {
  /** Records by service and severity. */
  readonly counts?: readonly (readonly [serviceName: string, severityNumber: number, count: number])[];
  readonly eventNames?: readonly string[];
  /** The sender's times, padded, so that they compare as text. */
  readonly times: readonly [first: string, last: string];
  /** Of the content. A byte that the disk has changed in a text would else be read as if it had been sent. */
  readonly crc?: number;
  /** What only blocks of several requests have. */
  readonly merged?: MergedSummary;
}

export interface MergedSummary {
  /** Of the first record. */
  readonly first: Place;
  readonly accountIds: readonly string[];
}

const maxServices = 8;
const maxEventNames = 16;
const maxNameLength = 128;
/** Of OTLP's severities, 0 to 24. */
const severities = 25;
const timeDigits = 20;

export type SeverityCount = NonNullable<Summary['counts']>[number];

export function summarize(
  groups: readonly RecordGroup[],
  content: Uint8Array,
  merged?: MergedSummary,
): string {
  const services = new Map<string, number[]>();
  const names = new Set<string>();
  let [first, last] = ['9'.repeat(timeDigits), ''];
  let lastName: string | null = null;
  for (const { serviceName, records } of groups) {
    let counts = services.get(serviceName);
    if (counts === undefined) services.set(serviceName, (counts = new Array<number>(severities).fill(0)));
    for (const { severityNumber, eventName, timeUnixNano } of records) {
      counts[severityNumber] = (counts[severityNumber] ?? 0) + 1;
      const time = padded(timeUnixNano);
      if (time < first) first = time;
      if (time > last) last = time;
      if (eventName === null || eventName === lastName || names.size > maxEventNames) continue;
      names.add((lastName = eventName));
    }
  }
  const eventNames = [...names];
  const isShort =
    eventNames.length <= maxEventNames && eventNames.every((name) => name.length <= maxNameLength);
  const summary: Summary = {
    ...(services.size <= maxServices && { counts: [...services].flatMap(countsOfService) }),
    ...(isShort && { eventNames }),
    times: [first, last],
    crc: crc32(content),
    ...(merged && { merged }),
  };
  return JSON.stringify(summary);
}

function countsOfService([serviceName, counts]: readonly [string, readonly number[]]): SeverityCount[] {
  return counts.flatMap((count, severity) => (count === 0 ? [] : [[serviceName, severity, count] as const]));
}

/** `undefined`: nobody knows, or it is damaged. */
function read(summary: string | null): Summary | undefined {
  if (summary === null) return undefined;
  try {
    return JSON.parse(summary) as Summary;
  } catch {
    return undefined;
  }
}

/** Whether a content is the one that was written; a summary of before does not tell. */
export function checksumOf(summary: string | null, content: Uint8Array): 'right' | 'wrong' | 'unknown' {
  const crc = read(summary)?.crc;
  if (crc === undefined) return 'unknown';
  return crc === crc32(content) ? 'right' : 'wrong';
}

type Head = Pick<StoredBlock, 'form' | 'lastId' | 'records' | 'accountId' | 'receivedAt' | 'summary'>;

/** Where a block begins. */
export function firstPlace({ form, lastId, records, receivedAt, summary }: Head): Place {
  const merged = form === 'merged' ? read(summary)?.merged : undefined;
  return merged?.first ?? { receivedAt, id: lastId - records + 1 };
}

/** Whose records a block has; `undefined` where nobody knows. */
export function accountsOf({ accountId, summary }: Head): readonly string[] | undefined {
  return accountId === null ? read(summary)?.merged?.accountIds : [accountId];
}

/** Whether a block of the organization has no record that is meant, as far as can be told without opening it. */
export function isRuledOut(head: StoredBlock, filter: RecordFilter): boolean {
  const { accountId, fromReceivedAt = 0, toReceivedAt = Infinity } = filter;
  return (
    head.receivedAt < fromReceivedAt ||
    firstPlace(head).receivedAt >= toReceivedAt ||
    (accountId !== undefined && accountsOf(head)?.includes(accountId) === false) ||
    !mayHave(head.summary, filter)
  );
}

/** Whether all records of a block are of the account, and came at the times, that a filter means. */
export function isWithin(head: StoredBlock, filter: RecordFilter): boolean {
  const { accountId, fromReceivedAt = 0, toReceivedAt = Infinity } = filter;
  return (
    (accountId === undefined || accountId === head.accountId) &&
    firstPlace(head).receivedAt >= fromReceivedAt &&
    head.receivedAt < toReceivedAt
  );
}

/** Whether a block may have a record that is meant; without a summary, it may. */
export function mayHave(summary: string | null, filter: RecordFilter): boolean {
  const { serviceName, minSeverity, eventName, fromTime, toTime } = filter;
  const asked = [serviceName, minSeverity, eventName, fromTime, toTime];
  const known = asked.every((of) => of === undefined) ? undefined : read(summary);
  if (known === undefined) return true;
  const { counts, eventNames, times } = known;
  if (fromTime !== undefined && times[1] < padded(fromTime)) return false;
  if (toTime !== undefined && times[0] >= padded(toTime)) return false;
  if (eventName !== undefined && eventNames && !eventNames.includes(eventName)) return false;
  return counts === undefined || counts.some(isMeant(serviceName, minSeverity));
}

/** How many of a block's records are meant, by service and severity; `undefined` where they have to be looked at. */
export function countsOf(summary: string | null, filter: RecordFilter): readonly SeverityCount[] | undefined {
  const { serviceName, minSeverity, eventName, fromTime, toTime, traceId, attributes = [], text } = filter;
  const asked = [eventName, fromTime, toTime, traceId, text];
  if (attributes.length > 0 || asked.some((of) => of !== undefined)) return undefined;
  return read(summary)?.counts?.filter(isMeant(serviceName, minSeverity));
}

function isMeant(serviceName: string | undefined, minSeverity = 0) {
  return ([service, severity]: SeverityCount): boolean =>
    severity >= minSeverity && (serviceName === undefined || service === serviceName);
}

function padded(time: string): string {
  return time.length >= timeDigits ? time : time.padStart(timeDigits, '0');
}
