import type { RecordGroup } from './logs-request.ts';
import type { RecordFilter } from './ports.ts';

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
}

const maxServices = 8;
const maxEventNames = 16;
const maxNameLength = 128;
/** Of OTLP's severities, 0 to 24. */
const severities = 25;
const timeDigits = 20;

export type SeverityCount = NonNullable<Summary['counts']>[number];

export function summarize(groups: readonly RecordGroup[]): string {
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
  };
  return JSON.stringify(summary);
}

function countsOfService([serviceName, counts]: readonly [string, readonly number[]]): SeverityCount[] {
  return counts.flatMap((count, severity) => (count === 0 ? [] : [[serviceName, severity, count] as const]));
}

/** Whether a block may have a record that is meant; only a `null` tells nothing. */
export function mayHave(summary: string | null, filter: RecordFilter): boolean {
  const { serviceName, minSeverity, eventName, fromTime, toTime } = filter;
  const asked = [serviceName, minSeverity, eventName, fromTime, toTime];
  if (summary === null || asked.every((of) => of === undefined)) return true;
  const { counts, eventNames, times } = JSON.parse(summary) as Summary;
  if (fromTime !== undefined && times[1] < padded(fromTime)) return false;
  if (toTime !== undefined && times[0] >= padded(toTime)) return false;
  if (eventName !== undefined && eventNames && !eventNames.includes(eventName)) return false;
  return counts === undefined || counts.some(isMeant(serviceName, minSeverity));
}

/** How many of a block's records are meant, by service and severity; `undefined` where they have to be looked at. */
export function countsOf(summary: string | null, filter: RecordFilter): readonly SeverityCount[] | undefined {
  const { serviceName, minSeverity, eventName, fromTime, toTime, traceId, attributes = [], text } = filter;
  const asked = [eventName, fromTime, toTime, traceId, text];
  if (summary === null || attributes.length > 0 || asked.some((of) => of !== undefined)) return undefined;
  return (JSON.parse(summary) as Summary).counts?.filter(isMeant(serviceName, minSeverity));
}

function isMeant(serviceName: string | undefined, minSeverity = 0) {
  return ([service, severity]: SeverityCount): boolean =>
    severity >= minSeverity && (serviceName === undefined || service === serviceName);
}

function padded(time: string): string {
  return time.length >= timeDigits ? time : time.padStart(timeDigits, '0');
}
