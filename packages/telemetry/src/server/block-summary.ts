import { crc32 } from 'node:zlib';
import { BlockTally, padded, type MergedSummary, type SeverityCount, type Summary } from './block-tally.ts';
import type { RecordGroup } from './logs-request.ts';
import type { Place, RecordFilter, StoredBlock } from './ports.ts';

export function summarize(
  groups: readonly RecordGroup[],
  content: Uint8Array,
  merged?: MergedSummary,
): string {
  const tally = new BlockTally();
  for (const { serviceName, records } of groups) {
    const counts = tally.countsOf(serviceName);
    for (const { severityNumber, eventName, timeUnixNano } of records) {
      counts[severityNumber] = (counts[severityNumber] ?? 0) + 1;
      tally.addTime(timeUnixNano);
      if (eventName !== null) tally.addEventName(eventName);
    }
  }
  return tally.write(content, merged);
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
