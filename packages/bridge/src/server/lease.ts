import { timing, wake, type Context } from './context.ts';
import type { WorkerStreams } from './worker-streams.ts';

/** Items of one sweep's transaction. */
const sweepSize = 200;
/** So much later than it should be, and the host slept: nobody could renew a lease. */
const sleptMs = 10_000;

/** The leases of running work: written from the signs of life of environments and workers, and judged when they lapse. */
export class Leases {
  readonly #context: Context;
  readonly #streams: WorkerStreams;
  /** By the wall clock, which goes on while the host sleeps. */
  #judgedAt: number;

  constructor(context: Context, streams: WorkerStreams) {
    this.#context = context;
    this.#streams = streams;
    this.#judgedAt = context.clock.now();
  }

  /** Gives every lease the time that it could not be renewed while the service was down, or slept. */
  async grace(): Promise<void> {
    const { store, clock, config } = this.#context;
    await store.acts.extendLeases({ until: clock.now() + config.restartGraceSeconds * 1000 });
    this.#judgedAt = clock.now();
  }

  /** Writes the signs of life, then judges what lapsed nevertheless. */
  async sweep(): Promise<void> {
    const { store, clock, config, presence, log } = this.#context;
    await presence.write('due');
    await this.#streams.writeRenewals('due');
    for (;;) {
      if (clock.now() - this.#judgedAt > config.sweepSeconds * 1000 + sleptMs) await this.grace();
      this.#judgedAt = clock.now();
      const lapsed = await store.acts.lapseWork({
        ...timing(this.#context),
        onlineSince: clock.now() - config.onlineSeconds * 1000,
        limit: sweepSize,
      });
      for (const work of lapsed) {
        wake(this.#context, work);
        const { workId, sessionId, state } = work;
        log.warn({ work_id: workId, session_id: sessionId, state }, 'Work lapsed.');
      }
      if (lapsed.length < sweepSize) return;
    }
  }
}
