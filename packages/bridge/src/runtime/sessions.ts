import { stopLeftovers } from './clean-up.ts';
import type { Context } from './context.ts';
import type { Executor } from './executor.ts';
import { toError } from './failure.ts';
import type { SessionRecord } from './state.ts';
import { WorkerSession, type WorkerSessionOptions } from './worker-session.ts';

/** How long the service is told that work which nobody will run is over. */
const abandonMs = 2_000;

export interface SessionsOptions extends Omit<
  WorkerSessionOptions,
  'environmentId' | 'sessionId' | 'workId' | 'executor'
> {
  readonly context: Context;
  /** What runs each kind of work. */
  readonly executors: Readonly<Record<string, Executor>>;
  readonly maxSessions: number;
}

/** A work item that was delivered, as far as it was understood. */
export interface Work {
  readonly id: string;
  /** Its kind, of those that are run here. */
  readonly type: string;
  readonly sessionId: string;
}

/** The sessions that run here: at most so many, each once. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #running = new Map<string, { readonly session: WorkerSession; readonly done: Promise<void> }>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#running.size;
  }

  get hasRoom(): boolean {
    const slots = [...this.#running.values()].filter(({ session }) => session.hasSlot);
    return slots.length < this.#options.maxSessions;
  }

  /** The kinds of work that are run here. */
  get types(): readonly string[] {
    return Object.keys(this.#options.executors);
  }

  has(sessionId: string): boolean {
    return this.#running.has(sessionId);
  }

  /**
   * Before the work is acknowledged: a bridge that dies between that and the start leaves word of it. What cannot be written
   * is told where the session starts, in its log.
   */
  intend({ id, sessionId }: Work, environmentId: string): void {
    if (this.has(sessionId)) return; // its record stands
    const { context, state } = this.#options;
    try {
      state.saveSession({ session_id: sessionId, work_id: id, environment_id: environmentId });
    } catch (error) {
      context.log.warn({ err: toError(error), sessionId }, 'work is taken without a record of it');
    }
  }

  /** The work did not become ours. */
  forgo({ sessionId }: Work): void {
    if (!this.has(sessionId)) this.#options.state.removeSession(sessionId);
  }

  /** Runs acknowledged work. A session that runs here already goes on, as the new attempt. */
  start(work: Work, environmentId: string): void {
    const running = this.#running.get(work.sessionId);
    if (running) return running.session.renew();
    const { sessionId } = work;
    const executor = this.#options.executors[work.type];
    if (!executor) throw new Error(`nothing runs work of the kind ${work.type}`); // never taken
    const session = new WorkerSession({
      ...this.#options,
      executor,
      environmentId,
      sessionId,
      workId: work.id,
    });
    const done = this.#run(session, sessionId);
    this.#running.set(sessionId, { session, done });
  }

  /** Work that became ours while the bridge stops: it ends, rather than being active with nobody. */
  async abandon({ id, sessionId }: Work, environmentId: string): Promise<void> {
    if (this.has(sessionId)) return; // that one is stopped
    const { context, state } = this.#options;
    const record: SessionRecord = {
      session_id: sessionId,
      work_id: id,
      environment_id: environmentId,
      must_end: true,
    };
    state.saveSession(record);
    await stopLeftovers(context, state, [record], {
      signal: context.killed,
      reason: 'bridge_stopped',
      limitMs: abandonMs,
    });
  }

  async #run(session: WorkerSession, sessionId: string): Promise<void> {
    try {
      await session.run();
    } catch (error) {
      this.#options.context.log.error({ err: toError(error), sessionId }, 'the session was not cleaned up');
    } finally {
      this.#running.delete(sessionId);
      this.#options.onFreed();
    }
  }

  /** Somebody stopped that work: who has no stream to hear it on asks. */
  stopHinted(workId: string): void {
    for (const { session } of this.#running.values()) if (session.workId === workId) session.stopHinted();
  }

  /** Whether one that runs has no stream. */
  get isApart(): boolean {
    return [...this.#running.values()].some(({ session }) => session.isApart);
  }

  /** The service answers again: who waits to try anew tries now. */
  reconnect(): void {
    for (const { session } of this.#running.values()) session.reconnect();
  }

  wake(isLong: boolean): void {
    for (const { session } of this.#running.values()) session.wake(isLong);
  }

  /** Ends all gracefully. */
  async stop(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ session }) => session.stop()));
  }

  kill(): void {
    for (const { session } of this.#running.values()) session.kill();
  }

  /** Ends all at once, and tells the service of it until `limit` aborts. */
  leave(limit: AbortSignal): void {
    for (const { session } of this.#running.values()) session.leave(limit);
  }

  /** Resolves when none is left. */
  async ended(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }
}
