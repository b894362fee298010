import { randomBytes } from 'node:crypto';
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '@sallyport/core';
import { makeDirectory } from '@sallyport/core/directory';
import { parseLines, toLine } from './lines.ts';

// Terminology
//
// segment   a finished file of events, one line each with its checksum; never changed, only claimed: `<epoch ms>-<random>.log`
// part      a segment while it is written: `.part`; one is left behind only by a process that died in the act
// claim     a segment while a process sends it: `.claim`; its modification time is the claim's last sign of life
// progress  how many events of a claim are done with, from its first one on: a number in its name, `-<random>.<progress>.claim`
//
// Files move by rename, which only one process wins; no process keeps one open, so none is written after it was claimed.

/** A claim or a part without a sign of life for this long has lost its process. Requests end long before. */
const staleMs = 120_000;

/** Of the spool that a segment takes at most: no more is removed at once to make room, or sent again after a crash. */
const segmentShare = 0.1;

const filePattern = /^(\d{13,16})-[0-9a-f]{16}(?:\.(\d{1,9}))?\.(log|part|claim)$/;

interface SpoolFile {
  readonly name: string;
  readonly createdAt: number;
  readonly state: 'log' | 'part' | 'claim';
  readonly progress: number;
  readonly bytes: number;
  readonly modifiedAt: number;
}

export interface SpoolOptions {
  /** Created when the first event is written, readable by its owner alone. Other files in it are left alone. */
  readonly directory: string;
  readonly clock: Clock;
  /** All files together (default 10 MiB): the oldest goes first. */
  readonly maxBytes?: number;
  /** Older segments are removed unsent (default 7 days). */
  readonly maxAgeMs?: number;
}

/** A segment that this process alone sends. */
export interface Claim {
  /** Its events, one JSON text each. */
  readonly events: readonly string[];
  /** Lines that were torn or damaged, and are left out. */
  readonly damaged: number;
  /** A sign of life, to be given before each request. */
  renew(): void;
  /** Whoever takes the claim over goes on behind its first `done` events. */
  progress(done: number): void;
  /** Gives the claim up: `rest` is what was not sent, and keeps the segment's age. */
  settle(rest: readonly string[]): void;
}

/** Events on disk that wait for a process which can send them. All its I/O is synchronous: it works while a process exits. */
export interface Spool {
  /** Writes events as new segments; throws the file system's error, and then nothing was written. */
  append(events: readonly string[]): void;
  /** The events on disk, the oldest first, those on their way included: for whoever wants to see them. Changes nothing. */
  peek(): readonly string[];
  /** Takes the oldest segment that nobody sends. Also removes what is too old. */
  claim(): Claim | undefined;
  /** Events that were removed unsent, for their age or to make room, since this was last asked. */
  takeRemoved(): number;
  /** Deletes everything: telemetry was turned off. */
  clear(): void;
}

export function openSpool(options: SpoolOptions): Spool {
  const { directory, clock, maxBytes = 10 * 1024 * 1024, maxAgeMs = 7 * 24 * 3600 * 1000 } = options;
  let removed = 0;

  function list(): SpoolFile[] {
    return namesIn(directory)
      .flatMap((name) => {
        const match = filePattern.exec(name);
        const stat = match && statSync(join(directory, name), { throwIfNoEntry: false });
        if (!stat) return [];
        const [, created, done = '0', state] = match;
        return [
          {
            name,
            createdAt: Number(created),
            state: state as SpoolFile['state'],
            progress: Number(done),
            bytes: stat.size,
            modifiedAt: stat.mtimeMs,
          },
        ];
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  function isFree({ state, modifiedAt }: SpoolFile): boolean {
    return state === 'log' || clock.now() - modifiedAt >= staleMs;
  }

  function remove(name: string): void {
    rmSync(join(directory, name), { force: true });
  }

  function eventsOf({ name, progress }: SpoolFile): string[] {
    return parseLines(contentOf(join(directory, name))).records.slice(progress);
  }

  function removeUnsent(file: SpoolFile): void {
    removed += eventsOf(file).length;
    remove(file.name);
  }

  function makeRoom(needed: number): void {
    const files = list();
    let bytes = files.reduce((sum, file) => sum + file.bytes, needed);
    for (const file of files.filter(isFree)) {
      if (bytes <= maxBytes) return;
      removeUnsent(file);
      bytes -= file.bytes;
    }
  }

  /** Gives the segment's name. */
  function write(content: Buffer, createdAt: number): string {
    makeDirectory(directory);
    makeRoom(content.length);
    const stem = `${String(createdAt).padStart(13, '0')}-${randomBytes(8).toString('hex')}`;
    const part = join(directory, `${stem}.part`);
    try {
      const file = openSync(part, 'wx', 0o600);
      try {
        for (let at = 0; at < content.length;) at += writeSync(file, content, at);
      } finally {
        closeSync(file);
      }
      touch(part, clock.now());
      renameSync(part, join(directory, `${stem}.log`));
      return `${stem}.log`;
    } catch (error) {
      rmSync(part, { force: true });
      throw error;
    }
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

  function take({ name, createdAt, progress: before }: SpoolFile): Claim | undefined {
    const from = join(directory, name);
    const stem = `${name.slice(0, name.indexOf('-'))}-${randomBytes(8).toString('hex')}`;
    const pathAt = (progress: number) => join(directory, `${stem}.${progress}.claim`);
    let path = pathAt(before);
    let text: string;
    try {
      // Before the rename, which keeps the time: a claim must not look stale for an instant.
      touch(from, clock.now());
      renameSync(from, path);
      text = readFileSync(path, 'utf8');
    } catch {
      return undefined; // another process was faster
    }
    const { records, damaged } = parseLines(text);
    return {
      events: records.slice(before),
      damaged,
      renew: () => touch(path, clock.now()),
      progress(done) {
        const next = pathAt(before + done);
        renameSync(path, next);
        path = next;
      },
      settle(rest) {
        append(rest, createdAt);
        rmSync(path, { force: true });
      },
    };
  }

  return {
    append: (events) => append(events, Math.trunc(clock.now())),
    claim() {
      for (const file of list().filter(isFree)) {
        if (clock.now() - file.createdAt > maxAgeMs) {
          removeUnsent(file);
          continue;
        }
        const claim = take(file);
        if (claim) return claim;
      }
      return undefined;
    },
    peek: () => list().flatMap(eventsOf),
    takeRemoved() {
      const count = removed;
      removed = 0;
      return count;
    },
    clear() {
      const names = namesIn(directory).filter((name) => filePattern.test(name));
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

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it was sent meanwhile
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // nothing was ever spooled
  }
}

function touch(path: string, now: number): void {
  try {
    utimesSync(path, now / 1000, now / 1000);
  } catch {
    // It is gone: another process held it for dead.
  }
}
