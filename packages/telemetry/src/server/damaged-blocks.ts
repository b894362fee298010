import { createLru, type Log } from '@sallyport/core';
import type { StoredBlock } from './ports.ts';

/** Blocks that could not be read: readers pass them over. */
export interface DamagedBlocks {
  /** Counted and logged once, however many readers come by. */
  note(block: StoredBlock, cause: unknown): void;
  /** Since the start. */
  count(): number;
}

/** So many are known again: enough for what is damaged to be seen, and no more memory than that. */
const known = 1024;

export function createDamagedBlocks(log: Log): DamagedBlocks {
  const noted = createLru<true>(known);
  let count = 0;
  return {
    note({ lastId, records, organizationId }, cause) {
      const key = String(lastId);
      if (noted.get(key)) return;
      noted.set(key, true);
      count += 1;
      log.error(
        { block: lastId, records, organizationId, err: cause },
        'a stored block of telemetry is damaged: its records are left out until their age removes it; ' +
          'check the disk, and restore a backup where they are needed',
      );
    },
    count: () => count,
  };
}
