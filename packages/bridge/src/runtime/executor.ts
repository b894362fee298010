import type { SessionEvent } from '@sallyport/core/contract';

/** One session to run. */
export interface Job {
  readonly sessionId: string;
  readonly workId: string;
  readonly environmentId: string;
  readonly directory: string;
  /** Reports an event of the session; it reaches the service once, in this order. */
  readonly emit: (type: string, data: Readonly<Record<string, unknown>>) => void;
}

/** How it ended; exactly one of the two is not null. */
export interface Exit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** What graceful and forced ends are made of; `SIGKILL` means the whole tree of processes. */
export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGKILL';

/** A session that runs. */
export interface Execution {
  readonly pid: number | undefined;
  /**
   * Gives it an event of the session's log, which it takes in any case. A promise means that it has enough: no further
   * event is given before that resolves, nor acknowledged to the service.
   */
  deliver(event: SessionEvent): Promise<unknown> | undefined;
  /** There will be no further events. */
  endInput(): void;
  /** Nothing may be emitted until `resume`: the service does not keep up. Events already under way may still come. */
  pause(): void;
  resume(): void;
  signal(signal: StopSignal): void;
  /** Resolves when nothing of it is left; never rejects. */
  readonly ended: Promise<Exit>;
}

/** Runs sessions. A process of the shell is the one that comes with the runtime (`shellExecutor`). */
export type Executor = (job: Job) => Execution;
