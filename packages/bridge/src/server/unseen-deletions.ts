import { unseenChangesMs } from '@sallyport/core';
import { Coalesced } from './coalesced.ts';
import type { Context } from './context.ts';
import { dismissBridge } from './dismiss.ts';
import type { PollQueue } from './queue.ts';

const idsPerRead = 500;

/**
 * Another process (an operator's command) deletes environments without a word to this one: their polls that are held here end
 * within `unseenChangesMs`, as if they had been deleted here.
 */
export class UnseenDeletions extends Coalesced {
  readonly #context: Context;
  readonly #queue: PollQueue;
  #checkedAt: number;

  constructor(context: Context, queue: PollQueue) {
    super();
    this.#context = context;
    this.#queue = queue;
    this.#checkedAt = context.clock.monotonic();
  }

  tick(): void {
    const now = this.#context.clock.monotonic();
    if (now - this.#checkedAt < unseenChangesMs) return;
    this.#checkedAt = now;
    this.wake();
  }

  protected async act(): Promise<void> {
    const { store, log } = this.#context;
    const ids = [...this.#queue.polled()];
    try {
      for (let from = 0; from < ids.length; from += idsPerRead) {
        const environmentIds = ids.slice(from, from + idsPerRead);
        const standing = new Set(await store.reads.registeredAmong({ environmentIds }));
        for (const id of environmentIds)
          if (!standing.has(id)) dismissBridge(this.#context, this.#queue, id, []);
      }
    } catch (error) {
      log.error({ err: error }, 'It could not be seen whether the environments of held polls are there.');
    }
  }
}
