import type { SessionEvent } from '@sallyport/core/contract';
import { stopDeadlineMs, type EventData } from '../protocol/events.ts';
import { beginProcess } from './begin-process.ts';
import type { Context } from './context.ts';
import type { EndReason } from './events.ts';
import type { Execution, Executor, Exit } from './executor.ts';
import { toError } from './failure.ts';
import { Link } from './link.ts';
import { GracefulEnd } from './graceful-end.ts';
import { LateExecution } from './late-execution.ts';
import type { EndHook } from './on-end.ts';
import { Outbox } from './outbox.ts';
import type { Place, Places } from './places.ts';
import type { BridgeState, SessionRecord } from './state.ts';
import { within } from './within.ts';

/** A session that has ended keeps its slot for so long, if the service does not hear of it. */
const reportMs = 30_000;
/** The longest that the service is told of a stop before the process is. */
const stopCallMs = 1_000;

export interface WorkerSessionOptions {
  readonly context: Context;
  readonly state: BridgeState;
  readonly executor: Executor;
  readonly isInteractive: boolean;
  readonly environmentId: string;
  readonly sessionId: string;
  readonly workId: string;
  readonly places: Places;
  /** Told when its stream opens, the first time and each time after. */
  readonly onConnected: () => void;
  /** Told when its slot is free. */
  readonly onFreed: () => void;
  readonly onEnd?: EndHook | undefined;
}

/** One session that runs here: its link to the service, its process, and what goes between the two. */
export class WorkerSession {
  readonly #options: WorkerSessionOptions;
  readonly #link: Link;
  readonly #outbox: Outbox;
  readonly #end: GracefulEnd;
  /** Aborts when nothing is to be asked for the session any more. */
  readonly #gone = new AbortController();
  /** Where its process runs, or ran. */
  #directory: string | undefined;
  #execution: Execution | undefined;
  #isCaughtUp = false;
  /** The process has more input than it reads. */
  #isSated = false;
  #isFull = false;
  #isInDoubt = false;
  #isStopping = false;
  /** The bridge ends, so nothing is waited for but the process. */
  #isLeaving = false;
  #hasExited = false;
  #hasSlot = true;
  /** The service knows that it is over. */
  #isKnown = false;
  /** Nobody takes output any more: what is left of it must not hold up the process's end. */
  #isOver = false;

  constructor(options: WorkerSessionOptions) {
    this.#options = options;
    this.#end = new GracefulEnd(options.context.clock);
    this.#outbox = new Outbox((isFull) => {
      this.#isFull = isFull;
      this.#regulate();
    });
    this.#link = new Link({
      ...options,
      outbox: this.#outbox,
      onEvent: (event) => this.#take(event),
      onCaughtUp: () => {
        this.#isCaughtUp = true;
        if (options.isInteractive) return;
        this.#execution?.endInput();
        this.#isSated = false; // there is no more input to wait with
      },
      onDoubt: (isInDoubt) => {
        this.#isInDoubt = isInDoubt;
        this.#regulate();
      },
    });
  }

  /** Resolves when nothing of the session is left here and the service knows how it ended. */
  async run(): Promise<void> {
    const { context, state, places, sessionId, workId } = this.#options;
    const sources = places.askSources(sessionId, this.#gone.signal);
    let ended: Promise<Exit> | undefined;
    const lost = await this.#link.run(() => {
      ended = this.#start(sources);
      void ended
        .then((exit) => this.#report(exit))
        .then(() => {
          this.#isKnown = true;
          this.#link.close();
        });
    });
    this.#isOver = true;
    this.#gone.abort();
    this.#regulate();
    if (lost !== undefined) this.#execution?.signal('SIGKILL');
    const { exitCode, signal } = (await ended) ?? { exitCode: null, signal: null };
    this.#end.cancel();
    // What the service could not be told now, the next start tells it.
    if (this.#isKnown || lost !== undefined) state.removeSession(sessionId);
    else state.saveSession(this.#record);
    const reason: EndReason = lost ?? (this.#isStopping ? 'stopped' : 'exited');
    const kept = await this.#clearAway({ exitCode, signal }, reason).catch((error: unknown) => {
      context.log.warn({ err: toError(error), sessionId }, 'the session was not cleared away');
      return undefined;
    });
    context.emit({
      type: 'session.ended',
      sessionId,
      workId,
      reason,
      exitCode,
      signal,
      ...(kept !== undefined && { kept }),
    });
  }

  async #clearAway(exit: Exit, reason: EndReason): Promise<string | undefined> {
    const { context, onEnd, places, environmentId, sessionId, workId } = this.#options;
    // Who is to end at once leaves that to the next start.
    if (context.killed.aborted) return undefined;
    if (onEnd && this.#directory !== undefined) {
      const session = { environmentId, sessionId, workId, directory: this.#directory };
      const end = await onEnd({ ...session, ...exit, reason });
      context.emit({ type: 'session.hook_ended', sessionId, ...end });
    }
    return places.leave(sessionId);
  }

  /** The same session was granted once more, because the service had lost sight of us. */
  renew(): void {
    this.#link.renew();
  }

  get workId(): string {
    return this.#options.workId;
  }

  /** Whether it is one of the sessions that may run at a time. */
  get hasSlot(): boolean {
    return this.#hasSlot;
  }

  /** It runs, and nobody hears of it. */
  get isApart(): boolean {
    return this.#execution !== undefined && !this.#link.isOpen;
  }

  reconnect(): void {
    this.#link.retry();
  }

  stopHinted(): void {
    if (!this.#link.isOpen) this.#link.doubt();
  }

  wake(isLong: boolean): void {
    this.#link.wake(isLong);
  }

  /** Tells the service that the work is to end, then ends the process gracefully. */
  async stop(): Promise<void> {
    const { context, environmentId, workId } = this.#options;
    const { client, clock, killed } = context;
    this.#isLeaving = true;
    if (this.#hasExited) return this.#link.finish();
    const force = this.#execution === undefined;
    const params = { env_id: environmentId, work_id: workId };
    // Or the end would count as a failure. The service may be gone, and nobody waits for it long.
    const isTold = await within(clock, stopCallMs, killed, (signal) =>
      client.bridge.stop({ params, body: { force, reason: 'bridge_stopped' }, signal }),
    ).then(
      () => true,
      () => false,
    );
    if (killed.aborted) return; // `leave` sees to it
    this.#stop({ force: force && isTold, deadline_ms: stopDeadlineMs });
  }

  /** Ends everything at once; the service is not told how it ended. */
  kill(): void {
    this.#isStopping = true;
    this.#execution?.signal('SIGKILL');
    this.#link.drop();
  }

  /** Ends the process at once; the service is told that it ended, until `limit` aborts. */
  leave(limit: AbortSignal): void {
    this.#isStopping = true;
    this.#isLeaving = true;
    this.#isOver = true;
    this.#regulate();
    this.#execution?.signal('SIGKILL');
    if (limit.aborted) return this.kill();
    limit.addEventListener('abort', () => this.kill(), { once: true });
    // Its end goes out on the stream; without one the service is asked to take the work for over.
    if (!this.#execution || !this.#link.isOpen) void this.#giveUp(limit).finally(() => this.kill());
    else if (this.#hasExited) this.#link.finish();
  }

  async #giveUp(signal: AbortSignal): Promise<void> {
    const { context, environmentId, workId } = this.#options;
    const token = this.#link.workerToken;
    const params = { env_id: environmentId, work_id: workId };
    const headers = token === undefined ? {} : { 'x-worker-token': token };
    const body = { force: true, reason: 'bridge_stopped' };
    await context.client.bridge.stop({ headers, params, body, signal }).then(
      () => (this.#isKnown = true),
      (error: unknown) => context.log.debug({ err: toError(error), workId }, 'its end could not be told'),
    );
  }

  get #record(): SessionRecord {
    const { environmentId, sessionId, workId } = this.#options;
    return { session_id: sessionId, work_id: workId, environment_id: environmentId, must_end: true };
  }

  #start(sources: () => Promise<unknown>): Promise<Exit> {
    const { places, sessionId, workId } = this.#options;
    const execution = new LateExecution(
      async (signal) => {
        const place = await places.make({ sessionId, workId }, await sources(), signal);
        signal.throwIfAborted();
        return this.#begin(place);
      },
      (error) => {
        this.#emit('session.output', { stream: 'stderr', text: `cannot start: ${toError(error).message}` });
        return { exitCode: 127, signal: null };
      },
    );
    this.#execution = execution;
    this.#regulate();
    return execution.ended;
  }

  #begin(place: Place): Execution {
    const { context, state, executor, isInteractive } = this.#options;
    this.#directory = place.directory;
    return beginProcess({
      context,
      state,
      executor,
      record: this.#record,
      place,
      isInteractive,
      emit: (type, data) => this.#emit(type, data),
      report: (type, data) => this.#outbox.push(context.ids.next('evt'), type, data),
    });
  }

  #emit(type: string, data: Readonly<Record<string, unknown>>): void {
    const { context, sessionId } = this.#options;
    this.#outbox.push(context.ids.next('evt'), type, data);
    if (type === 'session.output')
      context.emit({ type, sessionId, ...(data as EventData['session.output']) });
    else context.emit({ type: 'session.event', sessionId, name: type, data });
  }

  /** Resolves when the service has it: only then is the end confirmed. */
  async #report({ exitCode, signal }: Exit): Promise<void> {
    const { clock, ids } = this.#options.context;
    const id = ids.next('evt');
    const overdue = clock.after(reportMs, () => {
      this.#hasSlot = false;
      this.#options.onFreed();
    });
    this.#outbox.push(id, 'worker.exited', { exit_code: exitCode, signal });
    this.#hasExited = true;
    if (this.#isLeaving) this.#link.finish();
    await this.#outbox.settled(id);
    overdue.cancel();
  }

  #take(event: SessionEvent): boolean {
    if (event.type === 'control.stop') {
      this.#stop(event.data);
      return true;
    }
    if (this.#isSated) return false;
    // There is none if it could not be started.
    const sated = this.#execution?.deliver(event);
    if (sated) {
      this.#isSated = true;
      void sated.then(() => {
        this.#isSated = false;
        this.#link.reopen();
      });
    }
    // One from the past was for a process of the past.
    const isInterrupt = event.type === 'control.interrupt' && this.#isCaughtUp;
    if (isInterrupt && !this.#options.isInteractive) this.#execution?.signal('SIGINT');
    return true;
  }

  #stop({ force, deadline_ms: deadlineMs = stopDeadlineMs }: Partial<EventData['control.stop']>): void {
    const execution = this.#execution;
    if (force === true) this.#isKnown = true;
    if (force === true || !execution) return this.kill();
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#end.begin(execution, deadlineMs);
  }

  #regulate(): void {
    if (!this.#isOver && (this.#isFull || this.#isInDoubt)) this.#execution?.pause();
    else this.#execution?.resume();
  }
}
