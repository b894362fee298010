import type { Context } from './context.ts';

const rememberedMs = 10 * 60_000;

/** Work that is offered and not run here: told once, and no reason to ask without end. */
export class SkippedWork {
  readonly #context: Context;
  readonly #betweenOffersMs: number;
  /** The time of its last offer. */
  readonly #offered = new Map<string, number>();

  constructor(context: Context, betweenOffersMs: number) {
    this.#context = context;
    this.#betweenOffersMs = betweenOffersMs;
  }

  /** Gives how long to wait before the next question, in milliseconds. */
  add(workId: string, reason: string): number {
    const { clock, emit, log } = this.#context;
    const now = clock.monotonic();
    for (const [id, at] of this.#offered) if (now - at > rememberedMs) this.#offered.delete(id);
    const before = this.#offered.get(workId);
    this.#offered.set(workId, now);
    // Only what comes without end slows us down: others wait behind it.
    if (before !== undefined) return before + this.#betweenOffersMs - now;
    log.warn({ workId }, `work is not run: ${reason}`);
    emit({ type: 'work.skipped', workId, reason });
    return 0;
  }
}
