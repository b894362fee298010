import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { fromThrown, type Thrown } from './thrown.ts';

/** What the thread that copies is told. */
export interface CopyData {
  readonly path: string;
  readonly copy: string;
}

const extension = extname(import.meta.url);

/**
 * Writes a copy of the store at `path`, of one moment, into a new file; gateways write on meanwhile. Rejects with a
 * `StoreError` where it is not sound. Nothing is on the disk for sure: SQLite does not sync what it copies into.
 *
 * `VACUUM INTO`, not SQLite's backup: that begins anew whenever another connection writes, and takes deleted rows along.
 */
export async function copyStore(path: string, copy: string): Promise<void> {
  const worker = new Worker(new URL(`./copy-worker${extension}`, import.meta.url), {
    name: 'store-copy',
    workerData: { path, copy } satisfies CopyData,
    // As the writer's.
    ...(extension === '.ts' && { execArgv: ['--conditions=@sallyport/source'] }),
  });
  const [failure] = (await once(worker, 'message')) as [Thrown | undefined];
  if (failure) throw fromThrown(failure);
}
