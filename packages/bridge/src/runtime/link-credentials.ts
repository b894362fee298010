import type { Context } from './context.ts';
import { obtainCredentials, registerWorker } from './handshake.ts';
import type { Credentials } from './worker-credentials.ts';
import type { WorkerStream } from './stream.ts';

/** Credentials that expired sooner than this were never any good. */
const soundMs = 10_000;

/** What one link proves itself with: the first two steps of the handshake, and the renewal on an open stream. */
export class LinkCredentials {
  readonly #context: Context;
  readonly #sessionId: string;
  #present: Credentials | undefined;
  #obtainedAt = 0;

  constructor(context: Context, sessionId: string) {
    this.#context = context;
    this.#sessionId = sessionId;
  }

  get present(): Credentials | undefined {
    return this.#present;
  }

  /** Whether they have served for a while. */
  get wereSound(): boolean {
    return this.#context.clock.monotonic() - this.#obtainedAt >= soundMs;
  }

  async obtain(signal: AbortSignal): Promise<void> {
    const credentials = await obtainCredentials(this.#context, this.#sessionId, this.#present, { signal });
    await registerWorker(this.#context, this.#sessionId, credentials, { signal });
    this.#present = credentials;
    this.#obtainedAt = this.#context.clock.monotonic();
  }

  /**
   * In band. A failure is no loss: the socket is closed at the token's expiry, and the link shakes hands again, as it does
   * once the stream `isOver`.
   */
  async renewOn(stream: WorkerStream, isOver: AbortSignal): Promise<void> {
    try {
      const credentials = await obtainCredentials(this.#context, this.#sessionId, this.#present, {
        signal: isOver,
      });
      if (isOver.aborted) return;
      this.#present = credentials;
      stream.send(JSON.stringify({ type: 'auth', token: credentials.ingressToken }));
    } catch (error) {
      if (isOver.aborted) return;
      const sessionId = this.#sessionId;
      this.#context.log.warn({ err: error, sessionId }, 'the worker token could not be renewed yet');
    }
  }
}
