import { accessSync, constants } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeDirectory } from '@sallyport/core/directory';

/** How long a bundle waits to be sent again. */
const keepMs = 7 * 86_400_000;

/**
 * Where a bundle is made: the folder of bundles, without those that are too old; where nothing can be written there, a temporary
 * one of its own, since what is wrong with this machine may be just what a person has to tell.
 */
export async function openFolder(
  stateDir: string,
  now: number,
): Promise<{ readonly directory: string; readonly isTemporary: boolean }> {
  const directory = join(stateDir, 'feedback');
  try {
    makeDirectory(directory);
    accessSync(directory, constants.W_OK);
  } catch {
    return { directory: await mkdtemp(join(tmpdir(), 'sallyport-feedback-')), isTemporary: true };
  }
  await sweep(directory, now);
  return { directory, isTemporary: false };
}

/** Removes what earlier runs left and nobody is likely to send any more. */
async function sweep(folder: string, now: number): Promise<void> {
  const names = await readdir(folder).catch(() => []); // one that may be written to, but not read
  for (const path of names.map((name) => join(folder, name))) {
    const found = await stat(path).catch(() => undefined);
    if (found && found.mtimeMs < now - keepMs)
      await rm(path, { recursive: true, force: true }).catch(() => undefined); // somebody else's
  }
}
