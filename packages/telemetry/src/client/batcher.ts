import {
  neutralDialect,
  systemClock,
  systemRandom,
  type Clock,
  type Random,
  type Report,
  type Reporter,
  type Timer,
} from '@sallyport/core';
import { batchLimits } from '@sallyport/core/contract';
import { openSpool } from '../spool/spool.ts';
import { Packer } from './batch.ts';
import { Counters, flushReport, type FlushReport, type TelemetryStats } from './counters.ts';
import { Delivery, isSending } from './delivery.ts';
import { encoderFor } from './encoder-for.ts';
import { eventOf, type TelemetryEvent } from './event.ts';
import { installExitHandlers } from './exit-handlers.ts';
import { Intake } from './intake.ts';
import { optOut } from './opt-out.ts';
import { errorHook, type TelemetryBatcherOptions } from './options.ts';
import { createSampler } from './sample.ts';
import { createSender } from './send.ts';

const batchBounds = { maxEvents: batchLimits.maxEvents, maxBytes: 900 * 1024 };
const queueLimits = { maxEvents: 2048, maxBytes: 4 * 1024 * 1024 };
const shutdownMs = 1500;
/** A program that ends by itself is not held up for longer. */
const drainMs = 1000;

/**
 * Collects events and sends them in batches: at 50, after 60 s, at `flush()`, and at the end of the process, when what
 * cannot be sent goes to the disk and out with the next run.
 *
 * @example
 * const telemetry = new TelemetryBatcher({ baseUrl, transport, tokens, serviceName: 'agent_cli', serviceVersion: '1.0.0' });
 * telemetry.emit({ name: 'session.started', attributes: { sources: 2 } });
 * await telemetry.shutdown();
 */
export class TelemetryBatcher implements Reporter {
  /** The switch that turned telemetry off, such as `DO_NOT_TRACK=1`: then nothing is collected, written or sent. */
  readonly offBy: string | undefined;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #flushIntervalMs: number;
  readonly #counters: Counters;
  readonly #intake: Intake;
  readonly #hasSpool: boolean;
  readonly #delivery: Delivery;
  readonly #onError: (error: unknown) => void;
  readonly #requests = new AbortController();
  #installHandlers: (() => () => void) | undefined;
  #uninstallHandlers: (() => void) | undefined;
  #timer: Timer | undefined;
  /** The last of the runs that were asked for: each waits for the one before, so one request is on its way. */
  #lastRun: Promise<void> = Promise.resolve();
  #runs = 0;
  #hasDrained = false;
  #ending: Promise<FlushReport> | undefined;

  constructor(options: TelemetryBatcherOptions) {
    const { spoolDir, clock = systemClock, random = systemRandom, dialect = neutralDialect } = options;
    this.offBy =
      optOut(options.env ?? process.env) ?? (options.enabled === false ? 'configuration' : undefined);
    this.#clock = clock;
    this.#random = random;
    this.#flushIntervalMs = options.flushIntervalMs ?? batchLimits.flushIntervalMs;
    this.#onError = errorHook(options);
    this.#counters = new Counters(options.onDrop);
    const packer = new Packer(batchBounds);
    this.#intake = new Intake({
      encoder: encoderFor({ ...options, clock, random, dialect }),
      sampler: options.sampling && createSampler(options.sampling),
      limits: { ...queueLimits, ...options.queue },
      packer,
      counters: this.#counters,
    });
    const spool =
      spoolDir === undefined
        ? undefined
        : openSpool({ directory: spoolDir, clock, baseUrl: options.baseUrl });
    if (this.offBy !== undefined) spool?.clear();
    this.#hasSpool = spool !== undefined;
    this.#delivery = new Delivery({
      send: createSender({ ...options, clock, onError: this.#onError }),
      spool,
      packer,
      counters: this.#counters,
      clock,
      random,
      onError: this.#onError,
    });
    if (options.installExitHandlers !== false) {
      const atExit = { drain: () => this.#drainAtExit(), spill: () => this.#spill() };
      this.#installHandlers = () =>
        installExitHandlers(atExit, { signals: options.installSignalHandlers === true });
    }
  }

  /** The port of core: an event of severity info or error. Never throws either. */
  report(report: Report): void {
    let event: TelemetryEvent;
    try {
      event = eventOf(report);
    } catch {
      return this.#counters.drop('invalid', 1);
    }
    this.emit(event);
  }

  /** Queues an event. Never throws, and does no I/O. */
  emit(event: TelemetryEvent): void {
    if (this.offBy !== undefined || isSending()) return;
    if (this.#ending) return this.#counters.drop('closed', 1);
    if (this.#delivery.isDisabled) return this.#counters.drop('refused', 1);
    if (!this.#intake.take(event)) return;
    if (this.#installHandlers) {
      this.#uninstallHandlers = this.#installHandlers();
      this.#installHandlers = undefined;
    }
    this.#schedule();
  }

  /**
   * Resolves when every event emitted before was sent or dropped. While a pause holds nothing is sent: it resolves at
   * once, and `waiting` says how many are kept.
   */
  async flush(): Promise<FlushReport> {
    if (this.#ending) return this.#ending;
    const before = this.stats();
    // A request that waits for itself would never leave.
    if (!isSending()) await this.#run();
    return flushReport(before, this.stats());
  }

  /**
   * One last attempt within `deadlineMs`, unless the service asked for a pause; the rest goes to the spool. Later events are
   * dropped. Idempotent.
   */
  shutdown(deadlineMs = shutdownMs): Promise<FlushReport> {
    this.#ending ??= this.#end(deadlineMs);
    return this.#ending;
  }

  stats(): TelemetryStats {
    return {
      waiting: this.#intake.waiting + this.#delivery.unsettled,
      sent: this.#counters.sent,
      spooled: this.#counters.spooled,
      sampledOut: this.#counters.sampledOut,
      dropped: this.#counters.dropped,
    };
  }

  /** Sees to it that what waits is sent: at once where a batch is full, else in time. */
  #schedule(): void {
    if (this.#runs > 0 || this.#ending) return;
    const isFull = this.#intake.waiting >= batchBounds.maxEvents;
    if (this.#timer && !isFull) return;
    if (this.#intake.waiting + this.#delivery.unsettled === 0) return;
    const { pauseMs } = this.#delivery;
    if (pauseMs === 0 && isFull) {
      void this.#run();
      return;
    }
    // A tenth of jitter: programs that started together must not come back together.
    this.#timer ??= this.#clock.after(
      pauseMs || this.#flushIntervalMs * (0.9 + 0.2 * this.#random.fraction()),
      () => {
        this.#timer = undefined;
        if (this.#delivery.pauseMs === 0) void this.#run();
        else this.#schedule();
      },
    );
  }

  /** Sends what waits now. What comes meanwhile is for the next run. */
  #run({ tellsLosses = true } = {}): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.offBy !== undefined) return Promise.resolve();
    if (tellsLosses && this.#delivery.pauseMs === 0) this.#reportDrops();
    const upTo = this.#intake.lastSeq;
    const take = () => this.#intake.pack(batchBounds, upTo);
    this.#runs += 1;
    this.#lastRun = this.#lastRun
      .then(() => this.#delivery.run(take, this.#requests.signal))
      .catch(this.#onError)
      .then(() => {
        this.#runs -= 1;
        if (this.#delivery.isDisabled) this.#intake.refuse();
        this.#schedule();
      });
    return this.#lastRun;
  }

  async #end(deadlineMs: number): Promise<FlushReport> {
    const before = this.stats();
    this.#delivery.endBackOff();
    await this.#runWithin(deadlineMs);
    this.#spill();
    this.#installHandlers = undefined;
    this.#uninstallHandlers?.();
    return flushReport(before, this.stats());
  }

  async #runWithin(ms: number): Promise<void> {
    let timer: Timer | undefined;
    const late = new Promise<void>((resolve) => {
      timer = this.#clock.after(ms, resolve, { keepAlive: true });
    }).then(() => this.#requests.abort());
    await Promise.race([this.#runLast(), late]);
    timer?.cancel();
  }

  /** None comes later: all losses are told of, in a queue that is empty by then. */
  async #runLast(): Promise<void> {
    await this.#run({ tellsLosses: false });
    if (this.#delivery.pauseMs > 0 || this.#requests.signal.aborted) return;
    if (this.#reportDrops(Infinity)) await this.#run();
  }

  #drainAtExit(): void {
    if (this.#delivery.pauseMs > 0 || this.#requests.signal.aborted) return;
    // Losses alone are told of once: where their notice is lost, too, the program would never end.
    const hasLosses = !this.#hasDrained && this.#counters.hasUnreported;
    if (this.stats().waiting === 0 && !hasLosses) return;
    this.#hasDrained = true;
    void this.#runWithin(drainMs);
  }

  /**
   * Writes what waits to the spool. Synchronous: the process may end right after. A batch on its way makes a segment of
   * its own: if it arrived after all, the next run's request is the same one and is stored once.
   */
  #spill(): void {
    const delivery = this.#delivery;
    const isWritten = [delivery.release(), this.#intake.takeLines()].map((events) => delivery.spill(events));
    // Where those have not reached the disk, a notice would not either.
    if (this.#hasSpool && isWritten.every(Boolean) && this.#reportDrops(Infinity))
      delivery.spill(this.#intake.takeLines());
  }

  /** Losses are told to the service, too: one event a flush, about one reason; at the end one about each. */
  #reportDrops(maxReasons = 1): boolean {
    if (this.#delivery.isDisabled) return false;
    return this.#intake.takeLosses(maxReasons);
  }
}
