import { firstPlace, isRuledOut } from './block-summary.ts';
import { longestMergedMs } from './merged-block.ts';
import { isMeantOf, type BlockOpener, type OpenedBlock } from './opened-block.ts';
import type { Place, RecordFilter, StoredBlock, TelemetryReads } from './ports.ts';

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
  /** Of the blocks that are left. `cut` has the record `after` and others behind it. */
  async function boundsOf({ filter, order, after }: Walk) {
    const { fromReceivedAt = 0, toReceivedAt = Number.MAX_SAFE_INTEGER } = filter;
    const from = { receivedAt: fromReceivedAt, id: 0 };
    // The last record of a merged block may have come later than its others.
    const to = { receivedAt: Math.min(toReceivedAt + longestMergedMs, Number.MAX_SAFE_INTEGER), id: 0 };
    if (!after) return { from, to };
    const block = await blockOf(after, filter.organizationId);
    const isCut = block && (order === 'newest' ? firstPlace(block).id < after.id : after.id < block.lastId);
    const place = block ? placeOf(block) : after;
    const step = isCut ? 1 : 0; // the bounds are exclusive
    return {
      from: order === 'oldest' ? later(from, { ...place, id: place.id - step }) : from,
      to: order === 'newest' ? earlier(to, { ...place, id: place.id + step }) : to,
      cut: isCut ? block : undefined,
    };
  }

  async function blockOf({ id }: Place, organizationId: string): Promise<StoredBlock | undefined> {
    const [block] = await store.blocksAfter({ after: id - 1, limit: 1 });
    return block?.organizationId === organizationId && firstPlace(block).id <= id ? block : undefined;
  }

  return async function walkOn(walk: Walk, visitor: Visitor): Promise<Walked> {
    const { filter, order, after, maxScanned } = walk;
    const { organizationId } = filter;
    const { cut, ...bounds } = await boundsOf(walk);
    const heads = await store.listBlocks({ organizationId, order, ...bounds, limit: blocksAtOnce });
    let scanned = 0;
    let last: Place | undefined;
    for (const head of heads) {
      if (scanned >= maxScanned && last) return { next: last, scanned };
      const isCut = head.lastId === cut?.lastId;
      const isPassedOver = isRuledOut(head, filter) || (!isCut && visitor.isKnown?.(head) === true);
      const block = isPassedOver ? undefined : await open(head, filter);
      if (!block && !isPassedOver) return last ? { next: last, scanned } : walkOn(walk, visitor);
      scanned += block ? Math.max(0, Math.ceil(block.bytes / bytesOfOne) - block.records.length) : 1;
      for (const index of block ? indexesOf(block, order, isCut ? after : undefined) : []) {
        if (scanned >= maxScanned && last) return { next: last, scanned };
        scanned += 1;
        last = { receivedAt: block?.parts[index]?.receivedAt ?? 0, id: block?.ids[index] ?? 0 };
        if (block && isMeantOf(block, index, filter) && !visitor.record(head, block, index))
          return { next: last, scanned };
      }
      last = order === 'newest' ? firstPlace(head) : placeOf(head);
    }
    return { next: heads.length < blocksAtOnce ? undefined : last, scanned };
  };
}

/** In the order of the walk, from behind a record on. */
function indexesOf({ ids }: OpenedBlock, order: Walk['order'], after: Place | undefined): number[] {
  const indexes: number[] = [];
  for (const [index, id] of ids.entries())
    if (!after || (order === 'newest' ? id < after.id : id > after.id)) indexes.push(index);
  return order === 'newest' ? indexes.reverse() : indexes;
}

function placeOf({ receivedAt, lastId }: StoredBlock): Place {
  return { receivedAt, id: lastId };
}

function later(one: Place, other: Place): Place {
  return isBefore(one, other) ? other : one;
}

function earlier(one: Place, other: Place): Place {
  return isBefore(one, other) ? one : other;
}

function isBefore(one: Place, other: Place): boolean {
  return one.receivedAt < other.receivedAt || (one.receivedAt === other.receivedAt && one.id < other.id);
}
