import { Backoff } from './backoff.ts';
import type { Context } from './context.ts';
import type { RunEnd } from './events.ts';
import { judgeFailure, pauseMs, toError } from './failure.ts';
import { pauseAfter } from './pause-after.ts';
import { Pause } from './pause.ts';
import { poll, type PollAnswer } from './poll-call.ts';
import type { Registration } from './registration.ts';
import type { Sessions, Work } from './sessions.ts';
import { SkippedWork } from './skipped-work.ts';
import { takeWork } from './take-work.ts';
import { wakeSpreadMs } from './wake-watch.ts';
import { readDelivery } from './work-item.ts';

/** Under the 30 s and 60 s after which proxies give up. */
const blockMs = 25_000;
/** How long an open poll may still bring its answer when the bridge stops. */
const lastAnswerMs = 2_000;
/** Between two polls of a service that holds none, and between two offers of the same work that we do not run. */
const idleMs = 1_000;
/** How long sessions that lost their stream may take to open it again before work is asked for. */
const returnMs = 5_000;

export interface PollerOptions {
  readonly context: Context;
  readonly registration: Registration;
  readonly sessions: Sessions;
  /** Take one work item, then none any more. */
  readonly once: boolean;
}

/** Asks for work, one question at a time, for as long as the bridge runs; acknowledges it and has it run. */
export class Poller {
  readonly #options: PollerOptions;
  readonly #backoff: Backoff;
  readonly #pause: Pause;
  readonly #skipped: SkippedWork;
  /** Ends the present poll. */
  #abort = new AbortController();
  /** Ends everything, when the bridge stops. */
  readonly #end = new AbortController();
  /** No more work is taken. */
  readonly #stopping = new AbortController();
  #isAsking = false;
  #released: Promise<unknown> | undefined;
  #isOnline = false;
  #isFull = false;
  #isResting = false;
  /** The service was out of reach, and has not answered since. */
  #wasAway = false;
  #isReturning = false;
  #hasSlept = false;

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.context);
    this.#pause = new Pause(options.context.clock);
    this.#skipped = new SkippedWork(options.context, idleMs);
  }

  async run(): Promise<'stopped' | 'once' | RunEnd> {
    while (!this.#isStopping()) {
      this.#abort = new AbortController();
      try {
        if (this.#hasSlept) await this.#awake();
        const work = await this.#poll();
        if (work && (await this.#run(work)) && this.#options.once) return 'once';
      } catch (error) {
        // A poll that `wake`, `freed` or `stop` ended says nothing about the link.
        if (this.#abort.signal.aborted) continue;
        const end = await this.#recover(error);
        if (end) return end;
      }
    }
    await this.#released;
    return 'stopped';
  }

  /** A session ended: ask for work at once, if it was for want of room that we did not. */
  freed(): void {
    if (!this.#isFull) return;
    this.#abort.abort();
    this.#pause.cut();
  }

  /** A session has its stream again. */
  connected(): void {
    if (this.#isReturning && !this.#options.sessions.isApart) this.#pause.cut();
  }

  /** Work waits: whoever rests between two polls asks at once. A failed link keeps its pause. */
  hinted(): void {
    if (this.#isResting && !this.#isFull) this.#pause.cut();
  }

  /** The machine slept: no socket of before is to be trusted. */
  wake(): void {
    this.#backoff.reset();
    this.#hasSlept = true;
    this.#abort.abort();
    this.#pause.cut();
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Asks no more. An open poll is released by a newer one that wants nothing; failing that it is left after 2 s. */
  stop(): void {
    if (this.#isStopping()) return;
    this.#stopping.abort();
    this.#pause.end();
    this.#options.context.clock.after(lastAnswerMs, () => {
      this.#end.abort();
      this.#abort.abort();
    });
    if (this.#isAsking) this.#released = this.#ask({ capacity: 0 }, this.#end.signal).catch(() => undefined);
  }

  /** Stops without waiting for an open poll. */
  kill(): void {
    this.stop();
    this.#end.abort();
    this.#abort.abort();
  }

  async #awake(): Promise<void> {
    this.#hasSlept = false;
    this.#wasAway = true;
    await this.#rest(this.#options.context.random.fraction() * wakeSpreadMs);
  }

  async #poll(): Promise<Work | undefined> {
    const { context, sessions } = this.#options;
    const startedAt = context.clock.monotonic();
    // The first answer is wanted at once: it tells that the link works.
    const isProbe = !this.#isOnline;
    // Their work counts as lost by now: granted to us once more, it would be another attempt of the few that there are.
    this.#isReturning = this.#wasAway && sessions.isApart;
    this.#isFull = !sessions.hasRoom;
    const { types } = sessions;
    const query = {
      block_ms: isProbe || this.#isReturning ? 0 : blockMs,
      ...((this.#isFull || this.#isReturning) && { capacity: 0 }),
      // A service that knows no such question gives sessions.
      ...(types.length > 1 && { types: types.join(',') }),
    };
    this.#isAsking = true;
    const { body, nextPollMs, isSuperseded } = await this.#ask(query, this.#abort.signal).finally(() => {
      this.#isAsking = false;
    });
    this.#backoff.succeeded();
    this.#wasAway = false;
    if (isProbe) {
      this.#isOnline = true;
      context.emit({ type: 'polling', environmentId: this.#options.registration.environmentId });
    }
    // Ours is one poll at a time, and none that we gave up is answered.
    if (isSuperseded && !this.#isStopping()) {
      const { environmentId } = this.#options.registration;
      context.emit({ type: 'duplicated', environmentId });
    }
    if (this.#isReturning) return this.#letSessionsReturn();
    const delivery = readDelivery(body, types);
    if (delivery.kind === 'work' && !this.#isFull) return delivery.work;
    if (delivery.kind === 'unknown') await this.#skip(delivery.id, delivery.reason);
    if (delivery.kind === 'unknown' || isProbe) return undefined;
    // A service that does not hold polls answers at once: it must not be asked without end.
    const isHeld = context.clock.monotonic() - startedAt >= idleMs;
    this.#isResting = true;
    await this.#rest(nextPollMs ?? (isHeld ? 0 : idleMs));
    this.#isResting = false;
    return undefined;
  }

  async #letSessionsReturn(): Promise<undefined> {
    const { sessions } = this.#options;
    sessions.reconnect();
    if (sessions.isApart) await this.#rest(returnMs);
    this.#isReturning = false;
  }

  #ask(query: Readonly<Record<string, number | string>>, signal: AbortSignal): Promise<PollAnswer> {
    const { context, registration } = this.#options;
    return poll(context, registration.environmentId, query, signal);
  }

  /** Gives whether the work runs. */
  async #run(work: Work): Promise<boolean> {
    // What came while we were stopping stays unacknowledged, so the service offers it again.
    if (this.#isStopping()) return false;
    const { context, registration, sessions } = this.#options;
    const { environmentId } = registration;
    const [stopping, signal] = [this.#stopping.signal, this.#end.signal];
    const taken = await takeWork(work, { context, environmentId, sessions, stopping, signal });
    if (typeof taken === 'object') await this.#skip(work.id, taken.skipped);
    return taken === 'runs';
  }

  #skip(workId: string, reason: string): Promise<void> {
    return this.#rest(this.#skipped.add(workId, reason));
  }

  async #recover(error: unknown): Promise<RunEnd | undefined> {
    if (this.#isStopping()) return undefined;
    const { context, registration } = this.#options;
    const verdict = judgeFailure(error);
    this.#isOnline = false;
    this.#wasAway = true;
    switch (verdict.kind) {
      case 'missing': {
        const { environmentId } = registration;
        if (verdict.code === 'environment_deleted') {
          context.emit({ type: 'environment_deleted', environmentId });
          return 'environment_deleted';
        }
        await this.#fail('offline', error, this.#backoff.next());
        return registration.register().then(
          () => undefined,
          (refusal: unknown) => this.#recover(refusal),
        );
      }
      case 'device_revoked':
        context.emit({ type: 'device_revoked', environmentId: registration.environmentId });
        return 'device_revoked';
      case 'login_required':
      case 'refused':
        await this.#fail(verdict.kind, error, pauseMs[verdict.kind]);
        return undefined;
      case 'conflict':
      case 'retry':
        await this.#fail('offline', error, this.#backoff.next(verdict.retryAfterMs));
        return undefined;
    }
  }

  async #fail(
    type: 'offline' | 'login_required' | 'refused',
    error: unknown,
    retryInMs: number,
  ): Promise<void> {
    const { context } = this.#options;
    context.emit({ type, error: toError(error), retryInMs });
    if (retryInMs > 0) await pauseAfter(context, this.#pause, error, retryInMs);
  }

  async #rest(ms: number): Promise<void> {
    if (ms > 0) await this.#pause.for(ms);
  }
}
