import { closeCodes } from '../protocol/frames.ts';
import type { ResumeFrom } from '../protocol/resume.ts';
import type { Context } from './context.ts';
import type { Renewal, WorkerAttached } from './acts.ts';
import type { WorkerClaims, WorkerTokens } from './ports.ts';
import type { StreamSocket } from './stream-socket.ts';
import { drainRefusal, sendAway } from './send-away.ts';
import { WorkerStream } from './worker-stream.ts';

/** The open worker streams of this process, one a session. */
export class WorkerStreams {
  readonly #context: Context;
  readonly #workerTokens: WorkerTokens;
  readonly #streams = new Map<string, WorkerStream>();
  /** Signs of life on their way into the store. */
  readonly #writes = new Set<Promise<void>>();
  #draining = false;

  constructor(context: Context, workerTokens: WorkerTokens) {
    this.#context = context;
    this.#workerTokens = workerTokens;
  }

  get size(): number {
    return this.#streams.size;
  }

  refuseWhileDraining(): void {
    if (this.#draining) throw drainRefusal(this.#context);
  }

  /** Takes a worker's socket. The worker's older stream ends: it must have given it up. */
  add(
    claims: WorkerClaims,
    socket: StreamSocket,
    given: { readonly log: WorkerAttached; readonly from: ResumeFrom; readonly deviceSince: number },
  ): void {
    const { log } = given;
    const older = this.#streams.get(claims.sessionId);
    if (older?.claims.epoch === claims.epoch) older.terminate();
    const stream = new WorkerStream({
      context: this.#context,
      workerTokens: this.#workerTokens,
      claims,
      socket,
      ...given,
      log: { ...log, takenSeq: Math.max(log.takenSeq, older?.life.takenSeq ?? 0) },
      onEnd: this.#remove,
    });
    this.#streams.set(claims.sessionId, stream);
    if (this.#draining) stream.close(closeCodes.serviceRestart, 'draining');
  }

  tick(): void {
    for (const stream of this.#streams.values()) stream.tick();
  }

  /** Writes signs of life; resolves when those are stored that were on their way before, too. Rejects never. */
  async writeRenewals(which: 'all' | 'due'): Promise<void> {
    this.#write([...this.#streams.values()].flatMap((stream) => stream.life.renewal(which) ?? []));
    await Promise.all(this.#writes);
  }

  /** Tells every worker to come back soon and closes the streams one by one; resolves when none is left. */
  async drain(): Promise<void> {
    this.#draining = true;
    await sendAway(this.#context, this.#streams.values());
    await Promise.all(this.#writes);
  }

  readonly #remove = (stream: WorkerStream): void => {
    this.#write([stream.lastRenewal()]);
    if (this.#streams.get(stream.claims.sessionId) === stream) this.#streams.delete(stream.claims.sessionId);
  };

  #write(renewals: readonly Renewal[]): void {
    const write = this.#store(renewals).finally(() => this.#writes.delete(write));
    this.#writes.add(write);
  }

  async #store(renewals: readonly Renewal[]): Promise<void> {
    if (renewals.length === 0) return;
    const leaseMs = this.#context.config.runLeaseSeconds * 1000;
    try {
      await this.#context.store.acts.renewWorkers({ renewals, leaseMs });
    } catch (error) {
      this.#context.log.error({ err: error }, 'Leases could not be renewed.');
    }
  }
}
