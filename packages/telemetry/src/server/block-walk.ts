import { mayHave } from './block-summary.ts';
import { firstId, type BlockOpener, type OpenedBlock } from './opened-block.ts';
import type { ListBlocks, Place, RecordFilter, StoredBlock, TelemetryReads } from './ports.ts';
import { isMeant } from './record-filter.ts';

/** A piece of a walk along the order of listings: about `maxScanned` records are looked at, however few of them are meant. */
export interface Walk {
  readonly filter: RecordFilter;
  readonly order: 'newest' | 'oldest';
  /** Goes on behind this one. */
  readonly after?: Place | undefined;
  readonly maxScanned: number;
}

export interface Walked {
  /** Where to go on; `undefined` when nothing is left. */
  readonly next: Place | undefined;
  /** How much was looked at: a record is one, what is long more, and a block that need not be opened is one. */
  readonly scanned: number;
}

export interface Visitor {
  /** Gets each record that is meant; `false` ends the walk. */
  record(head: StoredBlock, block: OpenedBlock, index: number): boolean;
  /** Whether a whole block needs no opening, as all is known that is to be known of it. */
  isKnown?(head: StoredBlock): boolean;
}

/** Blocks whose heads are read at once. */
export const blocksAtOnce = 128;
/** Content of so many bytes counts as a record at least: what is looked at without a pause is bounded by that, too. */
export const bytesOfOne = 4096;

export function createBlockWalk(store: TelemetryReads, open: BlockOpener) {
  /** The next blocks of the walk, and before them the rest of the one that has the record `after`. */
  async function nextBlocks({ filter, order, after }: Walk): Promise<readonly StoredBlock[]> {
    const { organizationId, fromReceivedAt = 0, toReceivedAt = Number.MAX_SAFE_INTEGER } = filter;
    let bounds: Pick<ListBlocks, 'from' | 'to'> = {
      from: { receivedAt: fromReceivedAt, id: 0 },
      to: { receivedAt: toReceivedAt, id: 0 },
    };
    if (after && order === 'oldest' && isBefore(bounds.from, after)) bounds = { ...bounds, from: after };
    if (after && order === 'newest' && isBefore(after, bounds.to))
      bounds = { ...bounds, to: await endOfBlock(after) };
    return store.listBlocks({ organizationId, order, ...bounds, limit: blocksAtOnce });
  }

  /** A block's place is that of its last record. */
  async function endOfBlock({ receivedAt, id }: Place): Promise<Place> {
    const [block] = await store.blocksAfter({ after: id - 1, limit: 1 });
    return { receivedAt, id: block && firstId(block) < id ? block.lastId + 1 : id };
  }

  return async (walk: Walk, visitor: Visitor): Promise<Walked> => {
    const { filter, order, after, maxScanned } = walk;
    const heads = await nextBlocks(walk);
    let scanned = 0;
    let last: Place | undefined;
    for (const head of heads) {
      if (scanned >= maxScanned && last) return { next: last, scanned };
      const { receivedAt, lastId, records } = head;
      const isCut = after?.receivedAt === receivedAt && after.id >= firstId(head) && after.id <= lastId;
      const isRuledOut =
        (filter.accountId !== undefined && filter.accountId !== head.accountId) ||
        !mayHave(head.summary, filter) ||
        (!isCut && visitor.isKnown?.(head) === true);
      const block = isRuledOut ? undefined : await open(head, filter);
      scanned += block ? Math.max(0, Math.ceil(block.bytes / bytesOfOne) - block.records.length) : 1;
      for (let step = 0; block && step < block.records.length; step++) {
        const index = order === 'newest' ? records - 1 - step : step;
        const place = { receivedAt, id: firstId(head) + index };
        if (after && (order === 'newest' ? !isBefore(place, after) : !isBefore(after, place))) continue;
        if (scanned >= maxScanned && last) return { next: last, scanned };
        scanned += 1;
        last = place;
        const [record, group] = [block.records[index], block.groups[index]];
        if (record && group && isMeant(record, group, filter) && !visitor.record(head, block, index))
          return { next: place, scanned };
      }
      last = { receivedAt, id: order === 'newest' ? firstId(head) : lastId };
    }
    return { next: heads.length < blocksAtOnce ? undefined : last, scanned };
  };
}

function isBefore(one: Place, other: Place): boolean {
  return one.receivedAt < other.receivedAt || (one.receivedAt === other.receivedAt && one.id < other.id);
}
