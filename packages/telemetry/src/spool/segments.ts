import { hash, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isLoopback, type Clock } from '@sallyport/core';
import { parseLines } from './lines.ts';

// Terminology
//
// segment   a finished file of events, one line each with its checksum; never changed, only claimed:
//           `<epoch ms>-<random>.log`, or `<epoch ms>-<service>-<random>.log`
// part      a segment while it is written: `.part`; one is left behind only by a process that died in the act
// claim     a segment while a process sends it: `.claim`; its modification time is the claim's last sign of life
// service   to which its events go, as a digest of its address: no other may have them
// progress  how many events of a claim are done with, from its first one on: a number in its name, `-<random>.<progress>.claim`
//
// Files move by rename, which only one process wins; no process keeps one open, so none is written after it was claimed.

const filePattern = /^(\d{13,16})-(?:([0-9a-f]{8})-)?[0-9a-f]{16}(?:\.(\d{1,9}))?\.(log|part|claim)$/;

export interface SpoolFile {
  readonly name: string;
  readonly createdAt: number;
  readonly service: string | undefined;
  readonly state: 'log' | 'part' | 'claim';
  readonly progress: number;
  readonly bytes: number;
  readonly modifiedAt: number;
}

/**
 * The oldest first. What is no plain file is passed over: a FIFO of such a name would be read for ever, a link leads anywhere.
 */
export function filesIn(directory: string): SpoolFile[] {
  return namesIn(directory)
    .flatMap((name) => {
      const match = filePattern.exec(name);
      const stat = match && lstatSync(join(directory, name), { throwIfNoEntry: false });
      if (!match || !stat?.isFile()) return [];
      const [, created, service, done = '0', state] = match;
      return [
        {
          name,
          createdAt: Number(created),
          service,
          state: state as SpoolFile['state'],
          progress: Number(done),
          bytes: stat.size,
          modifiedAt: stat.mtimeMs,
        },
      ];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Those that the spool made, whatever has become of them. */
export function spoolNamesIn(directory: string): string[] {
  return namesIn(directory).filter((name) => filePattern.test(name));
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // nothing was ever spooled
  }
}

/** What is still to be sent of it. */
export function eventsOf(directory: string, { name, progress }: SpoolFile): string[] {
  return parseLines(contentOf(join(directory, name))).records.slice(progress);
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it was sent meanwhile
  }
}

/** Gives the segment's name. */
export function writeSegment(
  directory: string,
  content: Buffer,
  of: Pick<SpoolFile, 'createdAt' | 'service'>,
  clock: Clock,
): string {
  const stem = stemOf(of);
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

export interface ClaimedFile {
  /** Its events, one JSON text each. */
  readonly events: readonly string[];
  /** Lines that were torn or damaged, and are left out. */
  readonly damaged: number;
  /** A sign of life, to be given before each request. */
  renew(): void;
  /** Whoever takes the claim over goes on behind its first `done` events. */
  progress(done: number): void;
  /** Nobody has taken it over. */
  isHeld(): boolean;
  /** Ends the claim: whoever comes next goes on behind its first `done` events. */
  giveBack(done: number): void;
  remove(): void;
}

/** `undefined`: another process was faster. */
export function claimFile(directory: string, file: SpoolFile, clock: Clock): ClaimedFile | undefined {
  const { name, progress: before } = file;
  const from = join(directory, name);
  const stem = stemOf(file);
  const pathAt = (progress: number, state = 'claim') => join(directory, `${stem}.${progress}.${state}`);
  let path = pathAt(before);
  let text: string;
  try {
    // Before the rename, which keeps the time: a claim must not look stale for an instant.
    touch(from, clock.now());
    renameSync(from, path);
    text = readFileSync(path, 'utf8');
  } catch {
    return undefined;
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
    isHeld: () => existsSync(path),
    giveBack: (done) => renameSync(path, pathAt(before + done, 'log')),
    remove: () => rmSync(path, { force: true }),
  };
}

function stemOf({ createdAt, service }: Pick<SpoolFile, 'createdAt' | 'service'>): string {
  const parts = [String(createdAt).padStart(13, '0'), service, randomBytes(8).toString('hex')];
  return parts.filter((part) => part !== undefined).join('-');
}

/** Of an address, as the names of segments have it. Those on this machine are one: a gateway may come back on another port. */
export function serviceOf(baseUrl: string): string {
  const url = URL.parse(baseUrl);
  const address = url && isLoopback(url.hostname) ? 'loopback' : (url?.href ?? baseUrl);
  return hash('sha256', address.replace(/\/$/, ''), 'hex').slice(0, 8);
}

function touch(path: string, now: number): void {
  try {
    utimesSync(path, now / 1000, now / 1000);
  } catch {
    // It is gone: another process held it for dead.
  }
}
