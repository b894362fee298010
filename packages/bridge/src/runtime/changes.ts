import type { Timer } from '@sallyport/core';
import type { EventData, SourceChanges, UnknownChanges } from '../protocol/events.ts';
import type { Context } from './context.ts';
import { toError } from './failure.ts';
import { inPieces } from './pieces.ts';
import type { Places } from './places.ts';
import type { DiffBounds, Difference } from './workspace/diff.ts';
import { GitError } from './workspace/git.ts';

/** The longest that a session's end waits for git; and that of a session whose bridge ends. */
const usualMs = 20_000;
const leavingMs = 2_000;

/** Of all sources together: the list fits into one event, whatever its paths are. */
const bounds: DiffBounds = { patch: 512 * 1024, list: 256 * 1024 };

/** How much of what sessions change in their sources their logs are told: all, which files, or nothing. */
export type ChangesShown = 'patch' | 'files' | 'none';

export interface TellChanges {
  readonly shown: ChangesShown;
  /** What is replaced by `***`. */
  readonly secrets: readonly string[];
}

export interface ChangesOptions {
  readonly context: Pick<Context, 'clock' | 'killed' | 'log'>;
  readonly tellChanges: TellChanges;
  readonly places: Pick<Places, 'changes'>;
  readonly sessionId: string;
  /** Aborts when nobody hears of the session any more. */
  readonly gone: AbortSignal;
  /** Reports an event of the worker; gives its id. */
  readonly report: (type: string, data: Readonly<Record<string, unknown>>) => string;
  /** Resolves when the service has that event. */
  readonly settled: (id: string) => Promise<void>;
}

/** Tells a session's log what it changed in its sources, for those who are not on this machine. */
export class Changes {
  readonly #options: ChangesOptions;
  /** Of what is being looked for. */
  #limit: { readonly late: AbortController; timer: Timer } | undefined;
  #hasEnded = false;
  /** The service does not have the last answer yet. */
  #isUntaken = false;
  #isAskedAgain = false;

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  /** Somebody asks while the session runs. One answer is for all who ask until it is given. */
  ask(): void {
    if (this.#isUntaken) this.#isAskedAgain = true;
    else if (!this.#limit && !this.#hasEnded) void this.#answer();
  }

  /** The process has ended. Resolves when it is told, or will not be. */
  async tell({ isLeaving }: { readonly isLeaving: boolean }): Promise<void> {
    this.#hasEnded = true;
    this.#limit?.late.abort(); // who asked meanwhile has this for an answer
    await this.#tell(isLeaving ? leavingMs : usualMs);
  }

  /** The bridge ends. */
  hurry(): void {
    if (!this.#limit) return;
    this.#limit.timer.cancel();
    this.#limit.timer = this.#within(leavingMs, this.#limit.late);
  }

  /** The next one waits until the service has this one, or people could ask for more than goes out. */
  async #answer(): Promise<void> {
    const last = await this.#tell(usualMs);
    if (last === undefined) return;
    this.#isUntaken = true;
    await this.#options.settled(last);
    this.#isUntaken = false;
    if (!this.#isAskedAgain) return;
    this.#isAskedAgain = false;
    this.ask();
  }

  /** Gives the id of the last event, if there is one. */
  async #tell(ms: number): Promise<string | undefined> {
    const { context, tellChanges, places, sessionId, gone, report } = this.#options;
    const { clock, killed, log } = context;
    const { shown, secrets } = tellChanges;
    if (shown === 'none') return undefined;
    const late = new AbortController();
    const limit = { late, timer: this.#within(ms, late) };
    this.#limit = limit;
    const signal = AbortSignal.any([late.signal, gone, killed]);
    const kept = shown === 'patch' ? bounds : { ...bounds, patch: 0 };
    try {
      const sources = await places.changes(sessionId, { clock, signal, secrets, bounds: kept });
      let last: string | undefined;
      for (const [type, data] of eventsOf(sources ?? [], shown)) last = report(type, data);
      return last;
    } catch (error) {
      if (!signal.aborted)
        log.warn({ err: toError(error), sessionId }, 'what the session changed could not be told');
      return undefined;
    } finally {
      limit.timer.cancel();
      if (this.#limit === limit) this.#limit = undefined;
    }
  }

  #within(ms: number, late: AbortController): Timer {
    const tooLate = () => late.abort(new GitError(`git was given ${ms / 1000} s, and took longer`));
    return this.#options.context.clock.after(ms, tooLate, { keepAlive: true });
  }
}

function* eventsOf(
  sources: readonly (Difference | UnknownChanges)[],
  shown: ChangesShown,
): Iterable<readonly [string, Readonly<Record<string, unknown>>]> {
  if (sources.length === 0) return;
  const told: (SourceChanges | UnknownChanges)[] = [];
  for (const [index, source] of sources.entries()) {
    if ('error' in source) {
      told.push(source);
      continue;
    }
    const { patch, directory: _here, truncated, ...changes } = source;
    for (const piece of inPieces(Buffer.from(patch)))
      yield ['worker.patch', { source: index, ...piece } satisfies EventData['worker.patch']];
    if (shown === 'files') told.push({ ...changes, withheld: true });
    else told.push({ ...changes, ...(truncated && { truncated }) });
  }
  yield ['worker.changes', { sources: told } satisfies EventData['worker.changes']];
}
