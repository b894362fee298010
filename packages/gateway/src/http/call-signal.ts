import type { ServerResponse } from 'node:http';
import { ServiceError } from '@sallyport/core';
import { whenEnded, type EndListener, type Ending } from './ending.ts';

/**
 * The signal of one call: aborts when the caller hangs up before the answer is out, when `other` aborts, or on `end`. An
 * object that listens itself: each held poll has one.
 */
export class CallSignal implements EndListener {
  readonly #controller = new AbortController();
  readonly #other: AbortSignal | undefined;

  constructor(response: ServerResponse, other?: AbortSignal) {
    this.#other = other;
    if (other?.aborted === true) this.handleEvent();
    other?.addEventListener('abort', this);
    // The caller may have gone while it was asked who it is, or before its body was in.
    whenEnded(response, this);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(): void {
    this.#controller.abort(new ServiceError('draining', 'The stream has ended.'));
  }

  /** The other signal's `abort`. */
  handleEvent(): void {
    this.#controller.abort(this.#other?.reason);
  }

  ended({ writableFinished }: Ending): void {
    this.#other?.removeEventListener('abort', this);
    if (!writableFinished) this.#controller.abort(new Error('The caller hung up.'));
  }
}
