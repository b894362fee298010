import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** How long a bundle waits to be sent again. */
const keepMs = 7 * 86_400_000;

/** Removes what earlier runs left in the folder of bundles and nobody is likely to send any more. */
export async function sweep(folder: string, now: number): Promise<void> {
  const names = await readdir(folder).catch(() => []); // none was ever made
  for (const path of names.map((name) => join(folder, name))) {
    const found = await stat(path).catch(() => undefined);
    if (found && found.mtimeMs < now - keepMs)
      await rm(path, { recursive: true, force: true }).catch(() => undefined); // somebody else's
  }
}
