import { open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from '@sallyport/core/directory';

/** The bundles on disk: `<directory>/<feedback id>.zip`, and in `tmp` those that are still coming in. */
export interface BundleFiles {
  /** A new file for a bundle that comes in; only the service's own user may read it. */
  create(id: string): Promise<IncomingBundle>;
  pathOf(id: string): string;
  /** Of all that have come in whole. */
  ids(): Promise<readonly string[]>;
  remove(id: string): Promise<void>;
  /** Removes what a crash left: parts, and bundles that `isKnown` does not have. To be called before any comes in. */
  sweep(isKnown: (id: string) => Promise<boolean>): Promise<void>;
}

export interface IncomingBundle {
  readonly path: string;
  readonly handle: FileHandle;
  /** Durable under its id, once it settles. */
  keep(): Promise<void>;
  /** Idempotent. */
  discard(): Promise<void>;
}

export function createBundleFiles(directory: string): BundleFiles {
  const parts = join(directory, 'tmp');
  const pathOf = (id: string) => join(directory, `${id}.zip`);
  const ids = async () =>
    (await readdir(directory).catch(none)).flatMap((name) => /^(fb_.+)\.zip$/.exec(name)?.[1] ?? []);

  return {
    async create(id) {
      makeDirectory(parts);
      const path = join(parts, id);
      const handle = await open(path, 'wx', 0o600);
      return {
        path,
        handle,
        async keep() {
          await handle.sync();
          await handle.close();
          await rename(path, pathOf(id));
          await syncDirectory(directory);
        },
        async discard() {
          await handle.close().catch(() => undefined);
          await rm(path, { force: true });
        },
      };
    },
    pathOf,
    ids,
    remove: (id) => rm(pathOf(id), { force: true }),
    async sweep(isKnown) {
      await rm(parts, { recursive: true, force: true });
      for (const id of await ids()) if (!(await isKnown(id))) await rm(pathOf(id), { force: true });
    },
  };
}

/** So that the new name survives a power cut, too. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function none(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
