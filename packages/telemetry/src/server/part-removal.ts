import { mergeParts, type Part } from './merged-block.ts';
import { partsOf, type BlockOpener } from './opened-block.ts';
import type { StoredBlock, TelemetryActs } from './ports.ts';

interface RemovedParts {
  readonly records: number;
  /** Those of them that no export had taken, though there is one. */
  readonly unexported: number;
}

/**
 * Takes parts out of a merged block, which goes with the last of them. `changed`: it is not as it was any more, and has to be
 * looked for again. A damaged one stays, or goes as a whole where `evenDamaged`: nobody can tell what it has.
 */
export function createPartRemoval(store: Pick<TelemetryActs, 'replaceBlocks'>, open: BlockOpener) {
  return async (
    head: StoredBlock,
    goes: (part: Part) => boolean,
    { evenDamaged = false } = {},
  ): Promise<RemovedParts | 'changed'> => {
    const block = await open(head);
    if (!block) return 'changed';
    const isDamaged = block.records.length === 0;
    const parts = partsOf(block);
    const gone = parts.filter(goes);
    const stay = parts.filter((part) => !goes(part));
    if (isDamaged ? !evenDamaged : gone.length === 0) return { records: 0, unexported: 0 };
    const by = mergeParts(head.organizationId, stay);
    const { isDone, exportedTo } = await store.replaceBlocks({ blocks: [head], by });
    if (!isDone) return 'changed';
    const records = isDamaged ? head.records : gone.reduce((sum, part) => sum + part.records, 0);
    return { records, unexported: gone.reduce((sum, part) => sum + behind(part, exportedTo), 0) };
  };
}

/** How many of a part's records are behind the export. */
function behind({ lastId, records }: Part, exportedTo: number | null): number {
  return exportedTo === null ? 0 : Math.min(records, Math.max(0, lastId - exportedTo));
}
