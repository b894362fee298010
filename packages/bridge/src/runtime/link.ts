import type { SessionEvent } from '@sallyport/core/contract';
import { acknowledge } from './ack.ts';
import { Backoff } from './backoff.ts';
import type { Context } from './context.ts';
import type { EndReason } from './events.ts';
import { toError } from './failure.ts';
import type { Credentials } from './worker-credentials.ts';
import { judgeStepFailure, judgeStreamEnd, type LinkJudgement, type LinkStep } from './link-judgement.ts';
import { LinkCredentials } from './link-credentials.ts';
import { LinkStream } from './link-stream.ts';
import type { Outbox } from './outbox.ts';
import { pauseAfter } from './pause-after.ts';
import { Pause } from './pause.ts';
import { PlaceInLog } from './place-in-log.ts';
import { wakeSpreadMs } from './wake-watch.ts';

/** Superseded again so soon: two bridges have the same identity, and one has to give in. */
const rivalryMs = 60_000;

export interface LinkOptions {
  readonly context: Context;
  readonly outbox: Outbox;
  readonly environmentId: string;
  readonly sessionId: string;
  readonly workId: string;
  /** Gives whether it was taken; one that was not comes again after `reopen`. */
  readonly onEvent: (event: SessionEvent) => boolean;
  readonly onCaughtUp: () => void;
  readonly onConnected: () => void;
  /** Whether the session may still be ours is in doubt: nothing more of the process may go out meanwhile. */
  readonly onDoubt: (isInDoubt: boolean) => void;
}

/** Where the link goes on. */
type Next =
  | { readonly step: LinkStep; readonly error?: Error; readonly waitMs?: number; readonly untold?: true }
  | { readonly step: 'gone'; readonly reason: EndReason };

/** Keeps one session connected to the service, from the handshake to the session's end, through whatever happens. */
export class Link {
  readonly #options: LinkOptions;
  readonly #backoff: Backoff;
  readonly #pause: Pause;
  readonly #credentials: LinkCredentials;
  #stream: LinkStream | undefined;
  #next: Next = { step: 'handshake' };
  /** Where others want it to go on, whatever it is doing. */
  #order: Next | undefined;
  #supersededAt: number | undefined;
  #isFinishing = false;
  readonly #place: PlaceInLog;
  readonly #abort = new AbortController();

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.context);
    this.#pause = new Pause(options.context.clock);
    this.#credentials = new LinkCredentials(options.context, options.sessionId);
    this.#place = new PlaceInLog(options.onEvent);
  }

  /**
   * Runs until the session is gone for this worker, or `close`. `onReady` is called once, when the first two steps of the
   * handshake succeeded; the stream opens beside it.
   */
  async run(onReady: () => void): Promise<EndReason | undefined> {
    let isReady = false;
    while (!this.#abort.signal.aborted) {
      if (this.#next.step === 'gone') return this.#next.reason;
      if (this.#next.step === 'connect' && !isReady) {
        isReady = true;
        onReady();
      }
      const planned = await this.#take(this.#next.step);
      this.#order ??= planned; // an order wins, and may come while we rest
      for (let next = this.#takeOrder(); next; next = this.#takeOrder()) {
        this.#next = next;
        if (this.#isFinishing && 'error' in next) return undefined;
        await this.#rest(next);
      }
    }
    return undefined;
  }

  get isOpen(): boolean {
    return this.#stream?.isOpen ?? false;
  }

  /** Proves to the service which worker speaks, once the handshake gave it. */
  get workerToken(): string | undefined {
    return this.#credentials.present?.workerJwt;
  }

  /** Nothing more will be said than what waits: tries at once if it has no stream, and the next failure is the end. */
  finish(): void {
    this.#isFinishing = true;
    this.#pause.end();
  }

  /** Ends the link; what was sent is still delivered. */
  close(): void {
    this.#abort.abort();
    this.#stream?.close();
    this.#pause.end();
  }

  /** Ends the link at once. */
  drop(): void {
    this.#abort.abort();
    this.#stream?.drop();
    this.#pause.end();
  }

  /** The work was granted to us again: a new attempt, with credentials of its own. */
  renew(): void {
    this.#goOn({ step: 'handshake' });
  }

  /** Tries now, if it waits to try again. */
  retry(): void {
    this.#pause.cut();
  }

  /** There is room again for events that were not taken. */
  reopen(): void {
    // Without a stream, or with an order to leave it, the next one brings them anyway.
    if (!this.#place.isSkipping || !this.#stream || this.#order) return;
    this.#order = { step: 'connect' };
    this.#interrupt();
  }

  /** The machine slept. `isLong`: for longer than the lease, so another worker may have the session now. */
  wake(isLong: boolean): void {
    this.#backoff.reset();
    const { step } = this.#order ?? this.#next;
    if (step === 'gone') return;
    // The link finds its way back from a lost stream by itself.
    if (!isLong) return this.#interrupt();
    this.#options.onDoubt(true);
    this.#goOn({ step: 'doubt', waitMs: this.#options.context.random.fraction() * wakeSpreadMs });
  }

  /** The work may have ended: asks now, whatever pause is under way. */
  doubt(): void {
    this.#goOn({ step: 'doubt' });
  }

  #goOn(next: Next): void {
    // Before the first handshake is through there is nothing to connect.
    if (this.#credentials.present) this.#order = next;
    this.#interrupt();
  }

  #interrupt(): void {
    this.#stream?.drop();
    this.#pause.cut();
  }

  #takeOrder(): Next | undefined {
    const order = this.#order;
    this.#order = undefined;
    return order;
  }

  async #rest(next: Next): Promise<void> {
    const { context, sessionId } = this.#options;
    if (next.step === 'gone' || this.#abort.signal.aborted) return;
    const { error, waitMs = 0, untold = false } = next;
    if (error && !untold) context.emit({ type: 'session.disconnected', sessionId, error, retryInMs: waitMs });
    if (waitMs > 0) await pauseAfter(context, this.#pause, error, waitMs);
  }

  async #take(step: LinkStep): Promise<Next> {
    try {
      if (step === 'doubt') return await this.#settleDoubt();
      const { present } = this.#credentials;
      if (step === 'handshake' || !present) {
        await this.#credentials.obtain(this.#abort.signal);
        return { step: 'connect' };
      }
      return await this.#connect(present);
    } catch (error) {
      return this.#plan(judgeStepFailure(error, step), toError(error));
    }
  }

  async #connect(present: Credentials): Promise<Next> {
    const onOpen = () => {
      this.#backoff.succeeded();
      this.#options.onDoubt(false);
      this.#options.onConnected();
    };
    const parts = { place: this.#place, credentials: this.#credentials, onOpen };
    const stream = new LinkStream({ ...this.#options, ...parts }, present);
    this.#stream = stream;
    try {
      const end = await stream.ended;
      const { code, reason } = end;
      const error = new Error(`the stream was closed (${code}${reason && ` ${reason}`})`);
      return this.#plan(judgeStreamEnd(end, stream.drainMs), error);
    } finally {
      this.#stream = undefined;
    }
  }

  /** Who was superseded or shut out asks whether the work is still its own before it takes over again. */
  async #settleDoubt(): Promise<Next> {
    const { context, environmentId, workId } = this.#options;
    const holder = await acknowledge(context, environmentId, workId, { signal: this.#abort.signal });
    if (holder === 'theirs') return { step: 'gone', reason: 'superseded' };
    if (holder === 'gone') return { step: 'gone', reason: 'session_ended' };
    return { step: 'handshake' };
  }

  #plan(judgement: LinkJudgement, error: Error): Next {
    switch (judgement.kind) {
      case 'gone':
        return { step: 'gone', reason: judgement.reason };
      case 'doubt':
        return this.#doubt(error);
      case 'expired':
        return this.#replaceCredentials(error);
      case 'retry': {
        const { step, retryAfterMs, drainMs } = judgement;
        if (drainMs !== undefined) return { step, error, waitMs: this.#backoff.afterDraining(drainMs) };
        return { step, error, waitMs: judgement.waitMs ?? this.#backoff.next(retryAfterMs) };
      }
    }
  }

  #replaceCredentials(error: Error): Next {
    return { step: 'handshake', error, waitMs: this.#credentials.wereSound ? 0 : this.#backoff.next() };
  }

  #doubt(error: Error): Next {
    const now = this.#options.context.clock.monotonic();
    const isRivalry = this.#supersededAt !== undefined && now - this.#supersededAt < rivalryMs;
    if (isRivalry) return { step: 'gone', reason: 'superseded' };
    this.#supersededAt = now;
    this.#options.onDoubt(true);
    // Often it is the session's end, and no outage: not told before it is known.
    return { step: 'doubt', error, untold: true };
  }
}
