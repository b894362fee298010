import type { Clock, Log, Timer } from '@sallyport/core';
import type { Engines } from './engines.ts';

const pauseMs = 5 * 60_000;

export interface HousekeepingOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** A sentence where the disk fills up. */
  readonly lowDisk: () => Promise<string | undefined>;
}

/** What is done beside requests, every five minutes: what has expired goes, small blocks become one, a full disk is told of. */
export class Housekeeping {
  readonly #engines: Pick<Engines, 'oauth' | 'telemetry' | 'outbox'>;
  readonly #options: HousekeepingOptions;
  readonly #stopping = new AbortController();
  #compacting: Promise<void> | undefined;
  #next: Timer | undefined;

  constructor(engines: Pick<Engines, 'oauth' | 'telemetry' | 'outbox'>, options: HousekeepingOptions) {
    this.#engines = engines;
    this.#options = options;
  }

  start(): void {
    void this.#warnOfDisk();
    this.#next = this.#options.clock.after(pauseMs, () => this.#run());
  }

  async stop(): Promise<void> {
    this.#next?.cancel();
    this.#stopping.abort();
    await this.#compacting;
  }

  #run(): void {
    const { oauth, telemetry, outbox } = this.#engines;
    for (const area of [oauth, telemetry, outbox])
      area.sweep().catch(this.#failed('expired records could not be swept'));
    this.#compacting ??= telemetry
      .compact(this.#stopping.signal)
      .catch(this.#failed('small blocks of telemetry could not be merged'))
      .finally(() => (this.#compacting = undefined));
    this.start();
  }

  async #warnOfDisk(): Promise<void> {
    const { log, lowDisk } = this.#options;
    const sentence = await lowDisk().catch(this.#failed('the space left on the disk is not known'));
    if (sentence !== undefined) log.warn({}, sentence);
  }

  #failed(what: string): (error: unknown) => undefined {
    return (error) => {
      this.#options.log.error({ err: error }, what);
      return undefined;
    };
  }
}
