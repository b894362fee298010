import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A sentence where the disk of the store at `path` has less than `low` bytes left; 0: never. */
export async function lowOnSpace(path: string, low: number): Promise<string | undefined> {
  const { bavail, bsize } = await statfs(dirname(path));
  const free = bavail * bsize;
  if (free >= low) return undefined;
  return `The disk of ${dirname(path)} has ${inMebibytes(free)} MiB left, less than ${inMebibytes(low)} (lowDiskBytes): make room, or keep less (bridge.logRetentionSeconds).`;
}

function inMebibytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(0);
}
