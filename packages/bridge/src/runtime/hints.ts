import { inDialect, neutralDialect } from '@sallyport/core';
import { BridgeHint } from '@sallyport/core/contract';
import { closeCodes } from '../protocol/frames.ts';
import { Backoff } from './backoff.ts';
import type { Context } from './context.ts';
import { judgeFailure, toError } from './failure.ts';
import { LiveSocket } from './live-socket.ts';
import { Pause } from './pause.ts';

/** After a refusal, which no haste cures. */
const refusedPauseMs = 5 * 60_000;

export interface HintsOptions {
  readonly context: Context;
  /** A poll is worth it now. */
  readonly onWork: () => void;
  /** Somebody stopped that work. */
  readonly onStop: (workId: string) => void;
}

/**
 * The bridge's persistent WebSocket: hints that make it poll, or look after its work, without waiting. It is a convenience:
 * nothing depends on it, so nobody is told when it cannot be had.
 */
export class Hints {
  readonly #options: HintsOptions;
  readonly #backoff: Backoff;
  #end = new AbortController();
  #url: string | undefined;

  constructor(options: HintsOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.context);
  }

  /** Listens at the address that a registration gave, instead of where it did before. */
  follow(url: string | undefined): void {
    this.stop();
    this.#url = url;
    if (url === undefined || !this.#isTrusted(url)) return;
    this.#end = new AbortController();
    void this.#run(url, this.#end.signal);
  }

  /** The machine slept: no socket of before is to be trusted. */
  wake(): void {
    this.#backoff.reset();
    if (!this.#end.signal.aborted) this.follow(this.#url);
  }

  stop(): void {
    this.#end.abort();
  }

  /** The login's token goes nowhere but where the login is for. */
  #isTrusted(url: string): boolean {
    const { context } = this.#options;
    const { baseUrl } = context.clientOptions;
    const isOurs = URL.canParse(url) && new URL(httpOf(url)).origin === new URL(baseUrl).origin;
    if (!isOurs) context.log.info({ url }, 'the address for hints is of another origin: polls go on without');
    return isOurs;
  }

  async #run(url: string, signal: AbortSignal): Promise<void> {
    const { context } = this.#options;
    const pause = new Pause(context.clock);
    const isOver = () => signal.aborted;
    signal.addEventListener('abort', () => pause.end(), { once: true });
    let refused: string | undefined;
    while (!isOver()) {
      let waitMs: number | undefined;
      const isForced = refused !== undefined;
      let token: string | undefined;
      try {
        token = await context.clientOptions.tokens?.token(
          refused === undefined ? { signal } : { forceRefresh: true, refused, signal },
        );
        refused = undefined;
        waitMs = await this.#listen(url, token ?? '', signal);
      } catch (error) {
        context.log.debug({ err: toError(error) }, 'there are no hints');
        const { kind } = judgeFailure(error);
        if (kind === 'login_required' && token !== undefined && !isForced) refused = token;
        else if (kind !== 'retry') waitMs = refusedPauseMs;
      }
      if (!isOver()) await pause.for(waitMs ?? this.#backoff.next());
    }
  }

  /** Until the socket ends; gives how long to wait then, where somebody said so. */
  async #listen(url: string, token: string, signal: AbortSignal): Promise<number | undefined> {
    const { clientOptions, clock, workerId } = this.#options.context;
    const { dialect = neutralDialect, headers } = clientOptions;
    let drainMs: number | undefined;
    const socket = new LiveSocket({
      clientOptions,
      clock,
      url,
      headers: {
        ...headers,
        authorization: `Bearer ${token}`,
        [inDialect('vendor-worker-id', dialect)]: workerId,
      },
      onOpen: () => this.#backoff.succeeded(),
      onText: (text) => {
        const hint = readHint(text);
        if (hint?.type === 'draining') drainMs = hint.reconnect_in_ms;
        else if (hint) this.#heed(hint);
      },
    });
    const drop = () => socket.drop();
    signal.addEventListener('abort', drop, { once: true });
    try {
      const { code } = await socket.ended;
      if (code === closeCodes.gone || code === closeCodes.revoked) return refusedPauseMs;
      return drainMs ? this.#backoff.afterDraining(drainMs) : undefined;
    } finally {
      signal.removeEventListener('abort', drop);
    }
  }

  #heed(hint: Exclude<BridgeHint, { type: 'draining' }>): void {
    if (hint.type === 'work.available') this.#options.onWork();
    else this.#options.onStop(hint.work_id);
  }
}

function httpOf(url: string): string {
  return url.replace(/^ws/, 'http');
}

/** One of a kind that this version does not know is none. */
function readHint(text: string): BridgeHint | undefined {
  try {
    return BridgeHint.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
