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
//
// Files move by rename, which only one process wins; no process keeps one open, so none is written after it was claimed.

/** A claim or a part without a sign of life for this long has lost its process. Requests end long before. */
const staleMs = 120_000;

const filePattern = /^(\d{13,16})-[0-9a-f]{16}\.(log|part|claim)$/;

interface SpoolFile {
  readonly name: string;
  readonly createdAt: number;
  readonly state: 'log' | 'part' | 'claim';
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
  /** Gives the claim up: `rest` is what was not sent, and keeps the segment's age. */
  settle(rest: readonly string[]): void;
}

/** Events on disk that wait for a process which can send them. All its I/O is synchronous: it works while a process exits. */
export interface Spool {
  /** Writes events as one new segment; throws the file system's error, and then nothing was written. */
  append(events: readonly string[]): void;
  /** The events on disk, the oldest first, those on their way included: for whoever wants to see them. Changes nothing. */
  peek(): readonly string[];
  /** Takes the oldest segment that nobody sends. Also removes what is too old. */
  claim(): Claim | undefined;
  /** Segments that were removed unsent, for their age or to make room. */
  removed(): number;
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
        const [, created, state] = match as unknown as [string, string, SpoolFile['state']];
        return [{ name, createdAt: Number(created), state, bytes: stat.size, modifiedAt: stat.mtimeMs }];
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  function isFree({ state, modifiedAt }: SpoolFile): boolean {
    return state === 'log' || clock.now() - modifiedAt >= staleMs;
  }

  function remove(name: string): void {
    rmSync(join(directory, name), { force: true });
  }

  function makeRoom(needed: number): void {
    const files = list();
    let bytes = files.reduce((sum, file) => sum + file.bytes, needed);
    for (const file of files.filter(isFree)) {
      if (bytes <= maxBytes) return;
      remove(file.name);
      bytes -= file.bytes;
      removed += 1;
    }
  }

  function write(events: readonly string[], createdAt: number): void {
    if (events.length === 0) return;
    const content = Buffer.from(events.map(toLine).join(''));
    if (content.length > maxBytes) throw new RangeError('the events are larger than the spool');
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
    } catch (error) {
      rmSync(part, { force: true });
      throw error;
    }
  }

  function take({ name, createdAt }: SpoolFile): Claim | undefined {
    const from = join(directory, name);
    const path = join(
      directory,
      `${name.slice(0, name.indexOf('-'))}-${randomBytes(8).toString('hex')}.claim`,
    );
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
      events: records,
      damaged,
      renew: () => touch(path, clock.now()),
      settle(rest) {
        write(rest, createdAt);
        rmSync(path, { force: true });
      },
    };
  }

  return {
    append: (events) => write(events, Math.trunc(clock.now())),
    claim() {
      for (const file of list().filter(isFree)) {
        if (clock.now() - file.createdAt > maxAgeMs) {
          remove(file.name);
          removed += 1;
          continue;
        }
        const claim = take(file);
        if (claim) return claim;
      }
      return undefined;
    },
    peek: () =>
      list().flatMap(({ name }) => {
        try {
          return parseLines(readFileSync(join(directory, name), 'utf8')).records;
        } catch {
          return []; // it was sent meanwhile
        }
      }),
    removed: () => removed,
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
