import type { SessionEvent } from '@sallyport/core/contract';
import { stopDeadlineMs, type EventData } from '../protocol/events.ts';
import { beginProcess } from './begin-process.ts';
import { Changes, type TellChanges } from './changes.ts';
import { clearAway } from './clear-away.ts';
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
import { SessionInput } from './session-input.ts';
import { SessionOutput } from './session-output.ts';
import type { BridgeState, SessionRecord } from './state.ts';
import { askForEnd, giveUp } from './work-end.ts';

/** A session that has ended keeps its slot for so long, if the service does not hear of it. */
const reportMs = 30_000;

export interface WorkerSessionOptions {
  readonly context: Context;
  readonly state: BridgeState;
  readonly executor: Executor;
  readonly isInteractive: boolean;
  readonly environmentId: string;
  readonly sessionId: string;
  readonly workId: string;
  readonly places: Places;
  readonly tellChanges: TellChanges;
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
  readonly #input: SessionInput;
  readonly #output = new SessionOutput();
  readonly #end: GracefulEnd;
  readonly #changes: Changes;
  /** Aborts when nothing is to be asked for the session any more. */
  readonly #gone = new AbortController();
  /** Where its process runs, or ran. */
  #directory: string | undefined;
  #execution: Execution | undefined;
  #isStopping = false;
  /** The bridge ends, so nothing is waited for but the process. */
  #isLeaving = false;
  #hasExited = false;
  #hasSlot = true;
  /** The service knows that it is over. */
  #isKnown = false;

  constructor(options: WorkerSessionOptions) {
    this.#options = options;
    this.#end = new GracefulEnd(options.context.clock);
    this.#outbox = new Outbox((isFull) => this.#output.set({ isFull }));
    this.#changes = new Changes({
      ...options,
      gone: this.#gone.signal,
      report: (type, data) => this.#report(type, data),
      settled: (id) => this.#outbox.settled(id),
    });
    const { isInteractive } = options;
    this.#input = new SessionInput({ isInteractive, onRoom: () => this.#link.reopen() });
    this.#link = new Link({
      ...options,
      outbox: this.#outbox,
      onEvent: (event) => this.#take(event),
      onCaughtUp: () => this.#input.caughtUp(this.#execution),
      onDoubt: (isInDoubt) => this.#output.set({ isInDoubt }),
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
        .then((exit) => this.#reportEnd(exit))
        .then(() => {
          this.#isKnown = true;
          this.#link.close();
        });
    });
    this.#gone.abort();
    this.#output.set({ isOver: true });
    if (lost !== undefined) this.#execution?.signal('SIGKILL');
    const exit = (await ended) ?? { exitCode: null, signal: null };
    this.#end.cancel();
    // What the service could not be told now, the next start tells it.
    if (this.#isKnown || lost !== undefined) state.removeSession(sessionId);
    else state.saveSession(this.#record);
    const reason: EndReason = lost ?? (this.#isStopping ? 'stopped' : 'exited');
    const end = { reason, ...exit };
    const kept = await clearAway(this.#options, this.#directory, end);
    context.emit({ type: 'session.ended', sessionId, workId, ...end, ...(kept !== undefined && { kept }) });
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
    const { context } = this.#options;
    this.#isLeaving = true;
    if (this.#hasExited) {
      this.#changes.hurry();
      return this.#link.finish();
    }
    const force = this.#execution === undefined;
    // Or the end would count as a failure. The service may be gone, and nobody waits for it long.
    const isTold = await askForEnd(context, this.#options, force);
    if (context.killed.aborted) return; // `leave` sees to it
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
    this.#output.set({ isOver: true });
    this.#execution?.signal('SIGKILL');
    if (limit.aborted) return this.kill();
    limit.addEventListener('abort', () => this.kill(), { once: true });
    // Its end goes out on the stream; without one the service is asked to take the work for over.
    if (!this.#execution || !this.#link.isOpen)
      void giveUp(this.#options.context, this.#options, this.#link.workerToken, limit).then((isTold) => {
        this.#isKnown ||= isTold;
        this.kill();
      });
    else if (this.#hasExited) this.#link.finish();
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
    this.#output.of(execution);
    // An embedder's that rejects all the same must not end the bridge.
    return execution.ended.catch((error: unknown) => {
      this.#emit('session.output', { stream: 'stderr', text: `broke off: ${toError(error).message}` });
      return { exitCode: 1, signal: null };
    });
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
      report: (type, data) => this.#report(type, data),
    });
  }

  /** Gives the event's id. */
  #report(type: string, data: Readonly<Record<string, unknown>>): string {
    const id = this.#options.context.ids.next('evt');
    this.#outbox.push(id, type, data);
    return id;
  }

  #emit(type: string, data: Readonly<Record<string, unknown>>): void {
    const { context, sessionId } = this.#options;
    this.#report(type, data);
    if (type === 'session.output')
      context.emit({ type, sessionId, ...(data as EventData['session.output']) });
    else context.emit({ type: 'session.event', sessionId, name: type, data });
  }

  /** Resolves when the service has it: only then is the end confirmed. */
  async #reportEnd({ exitCode, signal }: Exit): Promise<void> {
    this.#hasExited = true;
    await this.#changes.tell({ isLeaving: this.#isLeaving });
    const overdue = this.#options.context.clock.after(reportMs, () => {
      this.#hasSlot = false;
      this.#options.onFreed();
    });
    const id = this.#report('worker.exited', { exit_code: exitCode, signal });
    if (this.#isLeaving) this.#link.finish();
    await this.#outbox.settled(id);
    overdue.cancel();
  }

  #take(event: SessionEvent): boolean {
    if (event.type === 'control.stop') {
      this.#stop(event.data);
      return true;
    }
    if (event.type === 'control.changes') {
      this.#changes.ask();
      return true;
    }
    return this.#input.take(event, this.#execution);
  }

  #stop({ force, deadline_ms: deadlineMs = stopDeadlineMs }: Partial<EventData['control.stop']>): void {
    const execution = this.#execution;
    if (force === true) this.#isKnown = true;
    if (force === true || !execution) return this.kill();
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#end.begin(execution, deadlineMs);
  }
}
