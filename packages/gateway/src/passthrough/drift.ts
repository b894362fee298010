import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { toTimestamp, type Clock, type Log } from '@sallyport/core';
import { makeDirectory } from '@sallyport/core/directory';
import { replaceFile } from '@sallyport/core/replace-file';

export type Side = 'request' | 'response';

/** One way in which what passes through departs from the contract. It has no values, only names and kinds. */
export interface Departure {
  readonly row: string;
  readonly side: Side;
  readonly path: string;
  readonly message: string;
}

export interface Counted extends Departure {
  readonly count: number;
  readonly first: string;
  readonly last: string;
}

/** Where and how upstreams and callers depart from the contract, told apart and counted. */
export interface Drift {
  note(departure: Departure): void;
  /** Writes what is not written yet. */
  close(): Promise<void>;
}

/** More kinds than that are not told apart. */
const maxKinds = 500;
const writeMs = 5_000;

export function driftFile(dataDir: string): string {
  return join(dataDir, 'drift.json');
}

/** Goes on with what the file has, and writes it some seconds after something has changed. */
export function createDrift(
  file: string,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Drift {
  const kinds = new Map(readDrift(file).map((counted) => [keyOf(counted), counted]));
  let writing: Promise<void> | undefined;
  let timer: { cancel(): void } | undefined;

  async function write(): Promise<void> {
    timer?.cancel();
    timer = undefined;
    await writing;
    writing = save(file, [...kinds.values()]).catch((error: unknown) =>
      log.warn({ err: error, file }, 'the drift report cannot be written'),
    );
    await writing;
  }

  return {
    note({ row, side, path, message }) {
      const departure = { row, side, path: path.slice(0, 200), message: message.slice(0, 200) };
      const key = keyOf(departure);
      const now = toTimestamp(clock.now());
      const known = kinds.get(key);
      if (known === undefined && kinds.size >= maxKinds) return;
      if (known === undefined) log.warn({ ...departure }, 'a message departs from the contract');
      kinds.set(key, { ...departure, count: (known?.count ?? 0) + 1, first: known?.first ?? now, last: now });
      timer ??= clock.after(writeMs, () => void write());
    },
    close: () => (timer === undefined ? (writing ?? Promise.resolve()) : write()),
  };
}

/** What a gateway has written down, most often seen first; nothing where it has seen nothing. */
export function readDrift(file: string): Counted[] {
  try {
    const { departures } = JSON.parse(readFileSync(file, 'utf8')) as { departures: Counted[] };
    return departures.sort((a, b) => b.count - a.count);
  } catch {
    return []; // none yet, or not a whole one: it begins anew
  }
}

async function save(file: string, departures: readonly Counted[]): Promise<void> {
  makeDirectory(dirname(file));
  await replaceFile(file, `${JSON.stringify({ departures }, null, 2)}\n`);
}

function keyOf({ row, side, path, message }: Departure): string {
  return `${row}\n${side}\n${path}\n${message}`;
}
