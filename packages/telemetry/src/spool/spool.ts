import { rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '@sallyport/core';
import { makeDirectory } from '@sallyport/core/directory';
import { toLine } from './lines.ts';
import {
  claimFile,
  eventsOf,
  filesIn,
  serviceOf,
  spoolNamesIn,
  writeSegment,
  type ClaimedFile,
  type SpoolFile,
} from './segments.ts';

/** A claim or a part without a sign of life for this long has lost its process. Requests end long before. */
const staleMs = 120_000;

/** Of the spool that a segment takes at most: no more is removed at once to make room, or sent again after a crash. */
const segmentShare = 0.1;

export interface SpoolOptions {
  /** Created when the first event is written, readable by its owner alone. Other files in it are left alone. */
  readonly directory: string;
  readonly clock: Clock;
  /** The service that the events are for: those of others are left to them, but for their age and for room. */
  readonly baseUrl?: string;
  /** All files together (default 10 MiB): the oldest goes first. */
  readonly maxBytes?: number;
  /** Older segments are removed unsent (default 7 days). */
  readonly maxAgeMs?: number;
}

/** A segment that this process alone sends. */
export interface Claim extends Omit<ClaimedFile, 'isHeld' | 'giveBack' | 'remove'> {
  /** Gives the claim up: `rest` is what was not sent, and keeps the segment's age. Nothing is done where it was taken over. */
  settle(rest: readonly string[]): void;
}

/** Events on disk that wait for a process which can send them. All its I/O is synchronous: it works while a process exits. */
export interface Spool {
  /** Writes events as new segments; throws the file system's error, and then nothing was written. */
  append(events: readonly string[]): void;
  /**
   * The events on disk that are for the service, the oldest first, those on their way included: for whoever wants to see them.
   * Changes nothing.
   */
  peek(): readonly string[];
  /** Takes the oldest segment that nobody sends. Also removes what is too old. */
  claim(): Claim | undefined;
  /** Events that were removed unsent, for their age or to make room, since this was last asked. */
  takeRemoved(): number;
  /** Deletes everything that it can: telemetry was turned off. */
  clear(): void;
}

export function openSpool(options: SpoolOptions): Spool {
  const { directory, clock, maxBytes = 10 * 1024 * 1024, maxAgeMs = 7 * 24 * 3600 * 1000 } = options;
  const service = options.baseUrl === undefined ? undefined : serviceOf(options.baseUrl);
  let removed = 0;

  function isOwn(file: SpoolFile): boolean {
    return service === undefined || file.service === undefined || file.service === service;
  }

  /** A sign of life from the future was given before the clock was set back. */
  function isFree({ state, modifiedAt }: SpoolFile): boolean {
    return state === 'log' || Math.abs(clock.now() - modifiedAt) >= staleMs;
  }

  /** One that may not be removed, such as another account's, must not stand in the way of the others. */
  function remove(name: string): boolean {
    try {
      rmSync(join(directory, name), { force: true });
      return true;
    } catch {
      return false;
    }
  }

  function removeUnsent(file: SpoolFile): boolean {
    const { length } = eventsOf(directory, file);
    const isRemoved = remove(file.name);
    if (isRemoved) removed += length;
    return isRemoved;
  }

  function makeRoom(needed: number): void {
    const files = filesIn(directory);
    let bytes = files.reduce((sum, file) => sum + file.bytes, needed);
    for (const file of files.filter(isFree)) {
      if (bytes <= maxBytes) return;
      if (removeUnsent(file)) bytes -= file.bytes;
    }
  }

  /** Gives the segment's name. */
  function write(content: Buffer, createdAt: number): string {
    makeDirectory(directory);
    makeRoom(content.length);
    return writeSegment(directory, content, { createdAt, service }, clock);
  }

  /** The newest stay, where there is no room for all. */
  function append(events: readonly string[], createdAt: number): void {
    const written: string[] = [];
    try {
      // A millisecond apart, which keeps their order.
      for (const content of segmentsOf(events))
        if (content.length <= maxBytes) written.push(write(content, createdAt + written.length));
        else removed += 1;
    } catch (error) {
      written.forEach(remove);
      throw error;
    }
  }

  /** What is too large for a segment is one by itself. */
  function* segmentsOf(events: readonly string[]): Generator<Buffer> {
    let [text, bytes] = ['', 0];
    for (const line of events.map(toLine)) {
      const size = Buffer.byteLength(line);
      if (text !== '' && bytes + size > maxBytes * segmentShare) {
        yield Buffer.from(text);
        [text, bytes] = ['', 0];
      }
      text += line;
      bytes += size;
    }
    if (text !== '') yield Buffer.from(text);
  }

  function take(file: SpoolFile): Claim | undefined {
    const claimed = claimFile(directory, file, clock);
    if (!claimed) return undefined;
    return {
      ...claimed,
      settle(rest) {
        if (!claimed.isHeld()) return;
        const done = claimed.events.length - rest.length;
        // In one step: killed between two, a process would leave the same events twice.
        if (rest.length > 0 && rest.every((event, index) => event === claimed.events[done + index]))
          return claimed.giveBack(done);
        append(rest, file.createdAt);
        claimed.remove();
      },
    };
  }

  return {
    append: (events) => append(events, Math.trunc(clock.now())),
    claim() {
      for (const file of filesIn(directory).filter(isFree)) {
        if (clock.now() - file.createdAt > maxAgeMs) {
          removeUnsent(file);
          continue;
        }
        const claim = isOwn(file) ? take(file) : undefined;
        if (claim) return claim;
      }
      return undefined;
    },
    peek: () =>
      filesIn(directory)
        .filter(isOwn)
        .flatMap((file) => eventsOf(directory, file)),
    takeRemoved() {
      const count = removed;
      removed = 0;
      return count;
    },
    clear() {
      const names = spoolNamesIn(directory);
      for (const name of names) remove(name);
      if (names.length === 0) return;
      try {
        rmdirSync(directory);
      } catch {
        // Something else lives there.
      }
    },
  };
}
