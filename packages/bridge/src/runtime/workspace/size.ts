import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const blockBytes = 512;

/** What a folder takes on the disk; a file with several names counts by its share. What cannot be read counts nothing. */
export async function bytesOf(folder: string, signal?: AbortSignal): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  let bytes = 0;
  // One after the other: it has time, and is to leave the disk to the sessions.
  for (const entry of entries) {
    signal?.throwIfAborted();
    const path = join(folder, entry.name);
    const stats = await lstat(path).catch(() => undefined);
    if (stats) bytes += (stats.blocks * blockBytes) / (entry.isDirectory() ? 1 : stats.nlink);
    if (entry.isDirectory()) bytes += await bytesOf(path, signal);
  }
  return bytes;
}
