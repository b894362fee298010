import { randomUUID } from 'node:crypto';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** A temporary file this old belongs to a writer that was killed. */
const abandonedAfterMs = 60_000;

/** Throws what keeps `file` from being replaced: no right, no room. Leaves nothing behind. */
export async function tryToWrite(file: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    // As large as a login at least: a full disk still takes an empty file.
    await writeFile(temporary, Buffer.alloc(16 * 1024), { flag: 'wx', mode: 0o600, flush: true });
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Removes what writers of `file` left behind when they were killed: it holds secrets too. */
export async function sweepTemporaries(file: string, now = Date.now()): Promise<void> {
  const folder = dirname(file);
  for (const name of await readdir(folder)) {
    if (!name.startsWith(`${basename(file)}.`) || !name.endsWith('.tmp')) continue;
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: now }));
    if (now - mtimeMs > abandonedAfterMs) await rm(path, { force: true });
  }
}
