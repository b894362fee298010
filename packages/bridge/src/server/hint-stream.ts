import { ServiceError, type GrantListener, type WakeListener } from '@sallyport/core';
import type { BridgeHint } from '@sallyport/core/contract';
import { closeCodes } from '../protocol/frames.ts';
import { Coalesced } from './coalesced.ts';
import type { Context } from './context.ts';
import type { SocketListener, StreamSocket } from './stream-socket.ts';
import { leaveTopic, stopTopic, workTopic } from './topics.ts';

/** Then the client comes back with a fresh token: none lives longer. */
const maxAgeMs = 3600 * 1000;
/** Kinds of work that are worth a hint. */
const types = ['session'];

export interface HintStreamOptions {
  readonly context: Context;
  readonly environmentId: string;
  readonly socket: StreamSocket;
  /** Throws the `ServiceError` for which the caller may not be here any more. */
  readonly check: () => Promise<unknown>;
  /** What the environment was registered from, and the `Grants.changes` at which that was trusted. */
  readonly device: { readonly id: string; readonly since: number };
  readonly onEnd: (stream: HintStream) => void;
}

/** Does one thing for a stream while that is open; what fails ends the stream. */
class Guarded extends Coalesced {
  readonly #stream: HintStream;
  readonly #act: () => Promise<unknown>;

  constructor(stream: HintStream, act: () => Promise<unknown>) {
    super();
    this.#stream = stream;
    this.#act = act;
  }

  protected async act(): Promise<void> {
    try {
      if (this.#stream.isOpen) await this.#act();
    } catch (error) {
      this.#stream.fail(error);
    }
  }
}

/**
 * A bridge's persistent WebSocket: says that a poll is worth it, and what was stopped. Hints only: nothing is granted here,
 * and one that gets lost costs no more than the time until the next poll.
 */
export class HintStream implements SocketListener, GrantListener {
  readonly #context: Context;
  readonly #environmentId: string;
  readonly #socket: StreamSocket;
  readonly #check: () => Promise<unknown>;
  readonly #onEnd: (stream: HintStream) => void;
  readonly #subscriptions: readonly (readonly [topic: string, listener: WakeListener])[];
  readonly #deviceId: string;
  readonly #openedAt: number;
  #isOpen = true;
  #frameAt: number;
  #pingedAt: number;
  /** Up to which stop it was told. */
  #stops: { readonly at: number; readonly workId: string };

  constructor({ context, environmentId, socket, check, device, onEnd }: HintStreamOptions) {
    const { clock, wakeups } = context;
    this.#context = context;
    this.#environmentId = environmentId;
    this.#socket = socket;
    this.#check = check;
    this.#onEnd = onEnd;
    this.#deviceId = device.id;
    this.#openedAt = this.#frameAt = this.#pingedAt = clock.monotonic();
    this.#stops = { at: clock.now(), workId: '' };
    const offer = new Guarded(this, () => this.#offerWork());
    this.#subscriptions = [
      [workTopic(environmentId), offer],
      [stopTopic(environmentId), new Guarded(this, () => this.#tellStops())],
      [leaveTopic(environmentId), new Guarded(this, () => this.#leave())],
    ];
    for (const [topic, listener] of this.#subscriptions) wakeups.subscribe(topic, listener);
    context.devices.watch(device.id, this, device.since);
    socket.listen(this);
    this.pong();
    offer.wake();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Pings, and ends what is silent, or whose caller may not be here any more. */
  tick(): void {
    const { clock, config } = this.#context;
    const now = clock.monotonic();
    if (now - this.#frameAt >= config.idleSeconds * 1000) return this.#terminate();
    if (now - this.#openedAt >= maxAgeMs) return this.close(closeCodes.tokenExpired, 'token_expired');
    if (now - this.#pingedAt < config.pingSeconds * 1000) return;
    this.#pingedAt = now;
    this.#socket.ping();
    new Guarded(this, () => this.#check()).wake();
  }

  announceDrain(reconnectInMs: number): void {
    this.#send({ type: 'draining', reconnect_in_ms: reconnectInMs });
  }

  close(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#socket.close(code, reason);
    this.closed();
  }

  /** Its machine is trusted no more. */
  revoked(): void {
    this.close(closeCodes.revoked, 'device_revoked');
  }

  #terminate(): void {
    this.#socket.terminate();
    this.closed();
  }

  closed(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    for (const [topic, listener] of this.#subscriptions) this.#context.wakeups.unsubscribe(topic, listener);
    this.#context.devices.unwatch(this.#deviceId, this);
    this.#onEnd(this);
  }

  message(): void {
    this.pong();
  }

  pong(): void {
    if (!this.#isOpen) return;
    this.#frameAt = this.#context.clock.monotonic();
    this.#context.presence.seen(this.#environmentId);
  }

  #send(hint: BridgeHint): void {
    // Who does not read needs no hints: its next poll tells.
    if (this.#isOpen && this.#socket.bufferedAmount < this.#context.config.sendLowBytes)
      this.#socket.sendText(JSON.stringify(hint), () => undefined);
  }

  fail(error: unknown): void {
    if (error instanceof ServiceError && error.status === 404) return this.close(closeCodes.gone, 'gone');
    if (error instanceof ServiceError && error.status < 500)
      return this.close(closeCodes.revoked, error.code);
    this.#context.log.error({ err: error }, 'A bridge could not be told what there is.');
    this.close(closeCodes.serviceRestart, 'store_unavailable');
  }

  async #offerWork(): Promise<void> {
    const { store } = this.#context;
    const workId = await store.reads.waitingWork({ environmentId: this.#environmentId, types });
    if (workId !== undefined) this.#send({ type: 'work.available', work_id: workId });
  }

  async #tellStops(): Promise<void> {
    const { store } = this.#context;
    const stops = await store.reads.stops({ environmentId: this.#environmentId, after: this.#stops });
    for (const { workId, at, force } of stops) {
      this.#stops = { at, workId };
      this.#send({ type: 'work.stop', work_id: workId, force });
    }
  }

  /** The environment was left or deleted: its stream would be a sign of life after the farewell. */
  async #leave(): Promise<void> {
    await this.#check();
    this.close(closeCodes.normal, 'disconnected');
  }
}
