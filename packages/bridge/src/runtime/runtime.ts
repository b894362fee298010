import { statSync } from 'node:fs';
import { systemClock, type Clock, type Timer } from '@sallyport/core';
import { assemble, type Parts } from './assemble.ts';
import { killLeftovers, returnUnstarted, stopLeftovers } from './clean-up.ts';
import type { Context } from './context.ts';
import { toError } from './failure.ts';
import type { BridgeRuntimeOptions, RunResult } from './options.ts';
import type { Registration } from './registration.ts';
import { RuntimeError } from './runtime-error.ts';
import type { Sessions } from './sessions.ts';
import { BridgeState } from './state.ts';
import { watchWake } from './wake-watch.ts';

/** The service takes a worker for lost after this long. */
const leaseMs = 60_000;
/** From the first signal until the bridge gives up on the service; the processes were killed before. */
const shutdownMs = 14_000;
/** How long the last call to the service may take; less where the service took too long already. */
const farewellMs = 3_000;
const overdueFarewellMs = 1_000;
/** After `kill`: how long the service is told of the ends of sessions, and all in all. */
const lastWordsMs = 1_000;
const killFarewellMs = 1_500;

/**
 * The bridge on a person's machine: registers a directory as an environment, polls for work and runs it, until told to stop.
 *
 * @example
 * const runtime = new BridgeRuntime({
 *   baseUrl, transport: undiciTransport(), tokens, deviceToken, runnerVersion: '1.0.0',
 *   directory: process.cwd(), run: 'my-agent --stdin', stateDir, on: (event) => console.error(event),
 * });
 * await runtime.run(AbortSignal.timeout(3_600_000));
 */
export class BridgeRuntime {
  readonly #options: BridgeRuntimeOptions;
  readonly #clock: Clock;
  #running: Parts | undefined;
  #deadline: Timer | undefined;
  #isOverdue = false;
  readonly #killed = new AbortController();
  /** Not even a farewell is waited for. */
  readonly #gone = new AbortController();
  readonly #farewellTimers: Timer[] = [];

  constructor(options: BridgeRuntimeOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * Runs until `signal` aborts: children end gracefully, the environment stays. Rejects with `RuntimeError` when the
   * directory is none (`invalid_directory`), a bridge for it runs already (`conflict`) or its files cannot be written
   * (`state_failed`), at the first registration with the service's 400 or 403, where this device's token does not reach
   * it (`device_token_withheld`), where it gives another environment than the one named (`other_environment`), and with the
   * 401 `device_revoked`; everything else is waited out.
   */
  async run(signal?: AbortSignal): Promise<RunResult> {
    this.#checkDirectory();
    const state = this.#openState();
    const unlock = state.lock();
    try {
      return await this.#run(state, signal);
    } finally {
      unlock();
    }
  }

  /**
   * Ends a run at once: all processes are killed, and every call to the service is given up, but for the word that it ends,
   * which takes 1.5 s at most. Called again it gives that up, too.
   */
  kill(): void {
    if (this.#killed.signal.aborted) return this.#gone.abort();
    this.#killed.abort();
    if (this.#running) this.#end(this.#running);
  }

  #end({ registration, sessions, poller, hints }: Parts): void {
    const lastWords = new AbortController();
    const later = (ms: number, end: AbortController) =>
      this.#farewellTimers.push(this.#clock.after(ms, () => end.abort(), { keepAlive: true }));
    later(lastWordsMs, lastWords);
    later(killFarewellMs, this.#gone);
    registration.stop();
    hints.stop();
    poller.kill();
    sessions.leave(AbortSignal.any([lastWords.signal, this.#gone.signal]));
  }

  #checkDirectory(): void {
    const { directory } = this.#options;
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return;
    throw new RuntimeError('invalid_directory', `There is no directory ${directory}: name one that exists.`);
  }

  #openState(): BridgeState {
    const { stateDir, baseUrl, directory, name = '' } = this.#options;
    return new BridgeState(stateDir, [baseUrl, directory, name]);
  }

  async #run(state: BridgeState, signal: AbortSignal | undefined): Promise<RunResult> {
    const ends = { killed: this.#killed.signal, gone: this.#gone.signal };
    const parts = assemble(this.#options, { state, clock: this.#clock, ...ends });
    this.#running = parts;
    const { context, workspaces, registration, sessions, poller, hints } = parts;
    const stopping = new AbortController();
    const stop = () => {
      stopping.abort();
      context.emit({ type: 'stopping', sessions: sessions.count });
      registration.stop();
      hints.stop();
      poller.stop();
      this.#endSessions(sessions);
    };
    const watch = watchWake(this.#clock, (sleptMs) => {
      registration.wake();
      hints.wake();
      poller.wake();
      sessions.wake(sleptMs > leaseMs);
    });
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
    if (this.#killed.signal.aborted) this.#end(parts); // there was nothing to kill before
    try {
      const leftovers = await killLeftovers(state);
      await workspaces.settleLeftovers();
      await registration.register();
      // Before any work is granted again: it may be the very work that they were of.
      const leaving = AbortSignal.any([stopping.signal, context.killed]);
      const { runnerVersion } = this.#options;
      await Promise.all([
        stopLeftovers(context, state, leftovers.ended, { signal: leaving, reason: 'bridge_killed' }),
        returnUnstarted(context, state, leftovers.unstarted, { signal: leaving, runnerVersion }),
      ]);
      const reason = await poller.run();
      if (reason === 'environment_deleted') registration.forget();
      if (reason === 'environment_deleted' || reason === 'device_revoked') this.#endSessions(sessions);
      await sessions.ended();
      if (reason !== 'environment_deleted') await this.#takeLeave(context, registration);
      return { reason, killed: context.killed.aborted };
    } finally {
      watch.cancel();
      hints.stop();
      for (const timer of [this.#deadline, ...this.#farewellTimers]) timer?.cancel();
      signal?.removeEventListener('abort', stop);
      await workspaces.close();
    }
  }

  /** Gracefully, but not for longer than a service manager waits. */
  #endSessions(sessions: Sessions): void {
    void sessions.stop();
    const giveUp = () => {
      this.#isOverdue = true;
      sessions.kill();
    };
    this.#deadline ??= this.#clock.after(shutdownMs, giveUp, { keepAlive: true });
  }

  /** An older service knows no such call, and one that is gone takes none: the environment's presence lapses anyway. */
  async #takeLeave({ log }: Context, registration: Registration): Promise<void> {
    const limitMs = this.#isOverdue ? overdueFarewellMs : farewellMs;
    const { remove = false } = this.#options;
    try {
      if (remove) await registration.remove(limitMs);
      else await registration.disconnect(limitMs);
    } catch (error) {
      if (remove) registration.kept(toError(error));
      else log.debug({ err: error }, 'the service could not be told that the bridge stops');
    }
  }
}
