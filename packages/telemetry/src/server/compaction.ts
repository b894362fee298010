import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@sallyport/core';
import { blockBytes, blockRecords } from './block-groups.ts';
import { accountsOf, firstPlace } from './block-summary.ts';
import { blocksAtOnce } from './block-walk.ts';
import { longestMergedMs, mergeParts, type Part } from './merged-block.ts';
import { partsOf, type BlockOpener } from './opened-block.ts';
import type { StoredBlock, TelemetryActs, TelemetryReads } from './ports.ts';

export interface CompactionOptions {
  readonly store: Pick<TelemetryActs, 'replaceBlocks'> & Pick<TelemetryReads, 'blocksAfter'>;
  readonly open: BlockOpener;
  readonly clock: Clock;
}

/** With more records than this, opening a block costs little beside reading them. */
const smallRecords = 32;
/** The summary of a block names them. */
const maxAccounts = 64;
/** Small blocks that are decoded without a pause: a few milliseconds of the event loop. */
const openedAtOnce = 128;

/**
 * Makes one block of small ones that are neighbours, an organization's. Only of those that are older than a merged block may be
 * long: by then what was under way has come, and each is merged about once.
 */
export function createCompaction({ store, open, clock }: CompactionOptions) {
  /** Up to here all is done. It is not kept: what was merged once is passed over the next time. */
  let doneTo = 0;
  let merged = 0;

  /** In the order of ids; the last ones only where no more can join them. */
  async function* rows(): AsyncGenerator<Row> {
    const now = clock.now();
    const settled = now - longestMergedMs;
    let row = new Row();
    for (let [after, isEnd] = [doneTo, false]; !isEnd;) {
      await setImmediate();
      const heads = await store.blocksAfter({ after, limit: blocksAtOnce });
      // One from the future came while the clock was wrong.
      const young = heads.findIndex(({ receivedAt }) => receivedAt > settled && receivedAt <= now);
      isEnd = young >= 0 || heads.length < blocksAtOnce;
      for (const head of young < 0 ? heads : heads.slice(0, young)) {
        if (!row.takes(head)) {
          yield row;
          row = new Row();
        }
        row.add(head);
        after = head.lastId;
      }
    }
    if (row.receivedAt <= settled - longestMergedMs) yield row;
  }

  /** Several of them, where their contents are too much for one. */
  async function merge(row: Row, signal: AbortSignal | undefined): Promise<void> {
    let blocks: StoredBlock[] = [];
    let parts: Part[] = [];
    let bytes = 0;
    async function replace(): Promise<void> {
      const [first] = blocks;
      const by = first && mergeParts(first.organizationId, parts);
      if (by && blocks.length > 1 && (await store.replaceBlocks({ blocks, by })).isDone)
        merged += blocks.length;
      [blocks, parts, bytes] = [[], [], 0];
    }
    for (const [index, head] of row.blocks.entries()) {
      if (index % openedAtOnce === 0) await setImmediate();
      if (signal?.aborted) return;
      const block = await open(head);
      const isReadable = block !== undefined && block.records.length > 0;
      if (!isReadable || bytes + block.bytes > blockBytes) await replace();
      if (!isReadable) continue;
      blocks.push(head);
      parts.push(...partsOf(block));
      bytes += block.bytes;
    }
    await replace();
  }

  return {
    /** Goes through what has come since the last time. */
    async run(signal?: AbortSignal): Promise<void> {
      for await (const row of rows()) {
        if (row.blocks.length > 1) await merge(row, signal);
        if (signal?.aborted) return;
        doneTo = row.lastId;
      }
    },
    /** Blocks that are one with others now, since the start. */
    merged: () => merged,
  };
}

/** Neighbours, as far as their heads tell that they may be one. */
class Row {
  readonly blocks: StoredBlock[] = [];
  readonly #accounts = new Set<string>();
  #records = 0;

  takes(head: StoredBlock): boolean {
    const last = this.blocks.at(-1);
    return (
      last === undefined ||
      (head.organizationId === last.organizationId &&
        head.records <= smallRecords &&
        last.records <= smallRecords &&
        this.#records + head.records <= blockRecords &&
        this.#accounts.union(new Set(accountsOf(head))).size <= maxAccounts &&
        head.receivedAt - this.receivedAt <= longestMergedMs &&
        // In listings a block is where its last record is: where the clock was set back, they would be in each other's way.
        firstPlace(head).receivedAt >= last.receivedAt)
    );
  }

  add(head: StoredBlock): void {
    this.blocks.push(head);
    this.#records += head.records;
    for (const accountId of accountsOf(head) ?? []) this.#accounts.add(accountId);
  }

  get lastId(): number {
    return this.blocks.at(-1)?.lastId ?? 0;
  }

  /** Of the first record. */
  get receivedAt(): number {
    const [first] = this.blocks;
    return first ? firstPlace(first).receivedAt : Infinity;
  }
}
