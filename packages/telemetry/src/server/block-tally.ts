import { crc32 } from 'node:zlib';
import type { Place } from './ports.ts';

/**
 * What a block has, as JSON of some hundred bytes: enough to pass over those that have nothing of what is sought, and to
 * count without decoding. What would be too much is left out.
 */
export interface Summary {
  /** Records by service and severity. */
  readonly counts?: readonly SeverityCount[];
  readonly eventNames?: readonly string[];
  /** The sender's times, padded, so that they compare as text. */
  readonly times: readonly [first: string, last: string];
  /** Of the content. A byte that the disk has changed in a text would else be read as if it had been sent. */
  readonly crc?: number;
  /** What only blocks of several requests have. */
  readonly merged?: MergedSummary;
}

export type SeverityCount = readonly [serviceName: string, severityNumber: number, count: number];

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

/** What a summary counts, from whatever the records are read: told of each record, in their order. */
export class BlockTally {
  readonly #services = new Map<string, number[]>();
  readonly #names = new Set<string>();
  #first = '9'.repeat(timeDigits);
  #last = '';
  #lastName: string | undefined;

  /** How many records of the service there are by severity: for the caller to add to. Of one that has a record, only. */
  countsOf(serviceName: string): number[] {
    let counts = this.#services.get(serviceName);
    if (counts === undefined)
      this.#services.set(serviceName, (counts = new Array<number>(severities).fill(0)));
    return counts;
  }

  /** Decimal nanoseconds. */
  addTime(timeUnixNano: string): void {
    const time = padded(timeUnixNano);
    if (time < this.#first) this.#first = time;
    if (time > this.#last) this.#last = time;
  }

  addEventName(name: string): void {
    if (name === this.#lastName || this.#names.size > maxEventNames) return;
    this.#names.add((this.#lastName = name));
  }

  /** The summary of the block whose content this is. */
  write(content: Uint8Array, merged?: MergedSummary): string {
    const eventNames = [...this.#names];
    const isShort =
      eventNames.length <= maxEventNames && eventNames.every((name) => name.length <= maxNameLength);
    const summary: Summary = {
      ...(this.#services.size <= maxServices && { counts: [...this.#services].flatMap(countsOfService) }),
      ...(isShort && { eventNames }),
      times: [this.#first, this.#last],
      crc: crc32(content),
      ...(merged && { merged }),
    };
    return JSON.stringify(summary);
  }
}

function countsOfService([serviceName, counts]: readonly [string, readonly number[]]): SeverityCount[] {
  return counts.flatMap((count, severity) => (count === 0 ? [] : [[serviceName, severity, count] as const]));
}

/** A time as summaries have it. */
export function padded(time: string): string {
  return time.length >= timeDigits ? time : time.padStart(timeDigits, '0');
}
