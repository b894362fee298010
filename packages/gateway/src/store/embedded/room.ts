import { fstatSync, openSync, statfsSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

/** What the disk has left for a database. */
export interface Room {
  /** In bytes, as the file system had it just now; pages that were freed count. */
  left(): number;
  /**
   * Has the disk give so many bytes to the file, within a transaction that is about to write them; `false`: it does not.
   * A commit goes to the log first, and what of it cannot be carried over to the file stops the log from being emptied: from
   * then on nothing can be written at all, not even that something is gone. Limits of users and processes count as well.
   */
  claim(bytes: number): boolean;
}

/** Claimed at once, where there is as much: a write for each request would be dear. */
const zeros = new Uint8Array(256 * 1024);
/** Pages of the tables' own trees and lists that an added row may take. */
const sparePages = 8;
/** What the file system told counts for so long: about a batch of acts. */
const knownMs = 10;

const noRoom = ['ENOSPC', 'EFBIG', 'EDQUOT', 'EIO'];

export function roomIn(db: DatabaseSync): Room {
  const path = db.location();
  if (path === null) return { left: () => Infinity, claim: () => true };
  const directory = dirname(path);
  const size = Number(db.prepare('PRAGMA page_size').get()?.['page_size']);
  const pageCount = db.prepare('PRAGMA page_count');
  const freeCount = db.prepare('PRAGMA freelist_count');
  const free = () => Number(freeCount.get()?.['freelist_count']);
  let known = { at: -Infinity, bytes: 0 };
  let file: number | undefined;

  function ofDisk(): number {
    const at = performance.now();
    if (at - known.at > knownMs) {
      const { bavail, bsize } = statfsSync(directory);
      known = { at, bytes: bavail * bsize };
    }
    return known.bytes;
  }

  return {
    left: () => ofDisk() + free() * size,
    claim(bytes) {
      const missing = Math.ceil(bytes / size) + sparePages - free();
      if (missing <= 0) return true;
      // Never closed: that would drop the locks of the process on this file (POSIX).
      file ??= openSync(path, 'r+');
      // Behind the last page that anybody has: nobody else writes there as long as this transaction is open.
      const used = Number(pageCount.get()?.['page_count']) * size;
      const end = used + missing * size;
      let at = Math.max(used, fstatSync(file).size);
      try {
        while (at < end) at += writeSync(file, zeros, 0, zeros.length, at);
        return true;
      } catch (error) {
        if (noRoom.includes((error as NodeJS.ErrnoException).code ?? '')) return false;
        throw error;
      }
    },
  };
}
