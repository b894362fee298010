import type { Socket } from 'node:net';
import type { AnswerHead } from '../dispatch.ts';
import { AnswerParser, type ParsedAnswer } from './answer-parser.ts';
import { ConnectionFailure } from './connection-failure.ts';
import type { Carrier, Flight } from './flight.ts';
import { Sending } from './sending.ts';

/** Whoever owns connections. */
export interface Owner {
  /** It may carry another request, for so long from then on. */
  released(connection: Connection, keepMs: number | undefined, heardAt: number): void;
  /** It is gone, or another's. */
  closed(connection: Connection): void;
}

/** One connection to a server. It carries one request at a time: nothing is sent ahead of an answer. */
export class Connection implements Carrier, ParsedAnswer {
  readonly #socket: Socket;
  readonly #owner: Owner;
  readonly #now: () => number;
  readonly #parser = new AnswerParser(this);
  #flight: Flight | undefined;
  #sending: Sending | undefined;
  #error: Error | undefined;
  #isAnswering = false;
  #isPaused = false;
  #heardAt = 0;
  /** Until when it may wait for a request; not while it carries one. */
  keptUntil = 0;

  constructor(socket: Socket, owner: Owner, now: () => number) {
    this.#socket = socket;
    this.#owner = owner;
    this.#now = now;
    socket.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError);
    socket.on('drain', this.#onDrain).once('close', this.#onClose);
  }

  /** Whether a request can be sent over it. */
  get isOpen(): boolean {
    return this.#socket.writable && this.#socket.readable;
  }

  /** Waits for a request until then; the process need not go on for it. */
  rest(until: number): void {
    this.keptUntil = until;
    this.#socket.unref();
  }

  carry(flight: Flight): void {
    this.#socket.ref();
    this.#flight = flight;
    flight.carrier = this;
    this.#isAnswering = false;
    this.#parser.expect(flight.request.method, flight.request.upgrades === true);
    flight.handler.began?.();
    this.#sending = new Sending(flight, this.#socket, this.#fail);
    this.#sending.start();
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#heardAt = this.#now();
    this.#socket.resume();
  }

  abandon(_flight: Flight, reason: Error): void {
    this.#leave();
    this.#socket.destroy(reason);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Gives up an answer that has paused for too long. A caller who takes nothing of it is no such pause. */
  checkPause(now: number): void {
    const { idleMs = 0 } = this.#flight?.request ?? {};
    if (idleMs > 0 && this.#isAnswering && !this.#isPaused && now - this.#heardAt >= idleMs)
      this.#fail(new ConnectionFailure('ETIMEDOUT', 'The server has paused for too long.'));
  }

  head(head: AnswerHead): void {
    this.#isAnswering = true;
    this.#flight?.handler.head(head);
  }

  data(chunk: Buffer): void {
    this.#flight?.handler.data(chunk);
  }

  end(trailers: readonly string[], keepMs: number | undefined): void {
    const { handler } = this.#flight ?? {};
    const isGood = keepMs !== 0 && this.#sending?.isWhole === true;
    this.#leave();
    handler?.end(trailers);
    if (!isGood || !this.isOpen) return void this.#socket.destroy();
    this.resume();
    this.#owner.released(this, keepMs, this.#heardAt);
  }

  switched(head: AnswerHead, rest: Buffer): void {
    const { handler } = this.#flight ?? {};
    const socket = this.#socket;
    this.#leave();
    socket.off('data', this.#onData).off('end', this.#onEnd).off('drain', this.#onDrain);
    socket.off('close', this.#onClose).pause();
    this.#owner.closed(this);
    if (rest.length > 0) socket.unshift(rest);
    if (handler?.switched) handler.switched(head, socket);
    else socket.destroy();
    // Until here: an error without a listener would end the process.
    socket.off('error', this.#onError);
  }

  /** The request is over, however it went. */
  #leave(): void {
    if (this.#flight) this.#flight.carrier = undefined;
    this.#flight = undefined;
    this.#parser.stop();
    this.#sending?.stop();
    this.#sending = undefined;
  }

  readonly #fail = (error: Error) => {
    const { handler } = this.#flight ?? {};
    this.#leave();
    this.#socket.destroy();
    handler?.failed(error);
  };

  readonly #onData = (chunk: Buffer) => {
    this.#heardAt = this.#now();
    try {
      this.#parser.write(chunk);
      this.#flight?.handler.flush?.();
    } catch (error) {
      this.#fail(error as Error);
    }
  };

  readonly #onEnd = () => {
    if (!this.#parser.close()) this.#fail(new ConnectionFailure('EOF', 'The server has hung up.'));
  };

  readonly #onError = (error: Error) => {
    this.#error = error;
  };

  readonly #onDrain = () => this.#sending?.drained();

  readonly #onClose = () => {
    this.#owner.closed(this);
    this.#fail(this.#error ?? new ConnectionFailure('EOF', 'The server has hung up.'));
  };
}
