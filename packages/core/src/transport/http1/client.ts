import type { Socket } from 'node:net';
import type { Timer } from '../../clock.ts';
import type { AnswerHandler, Client, Control, Outgoing } from '../dispatch.ts';
import { connectorTo, type ConnectOptions } from './connect.ts';
import { Connection, type Owner } from './connection.ts';
import { Flight, type Carrier } from './flight.ts';
import { requestHead } from './request-head.ts';

export interface Http1Options extends ConnectOptions {
  /** The most connections at once; who comes then waits. */
  readonly connections: number;
}

/** How long a connection is kept whose server says nothing about that, and the longest in any case. */
const usualKeepMs = 4_000;
const longestKeepMs = 600_000;
/** A server that closes it at the same moment would have the request lost. */
const marginMs = 1_000;
const sweepMs = 1_000;

/** Speaks HTTP/1.1 to one server, over connections that are kept. Why not a library's: docs/design.md. */
export class Http1Client implements Client, Owner, Carrier {
  readonly #options: Http1Options;
  readonly #host: string;
  readonly #connect: ReturnType<typeof connectorTo>;
  readonly #now: () => number;
  /** The last one to be used comes first: the others get old, and go. */
  readonly #idle: Connection[] = [];
  readonly #open = new Set<Connection>();
  readonly #connecting = new Set<Socket>();
  /** In the order in which they came. */
  readonly #waiting = new Set<Flight>();
  #sweep: Timer | undefined;
  #isClosed = false;

  constructor(origin: string, options: Http1Options) {
    this.#options = options;
    this.#host = new URL(origin).host;
    this.#connect = connectorTo(origin, options);
    this.#now = () => options.clock.monotonic();
  }

  readonly dispatch = (request: Outgoing, handler: AnswerHandler): Control => {
    const flight = new Flight(request, handler, requestHead(request, this.#host));
    const connection = this.#isClosed ? undefined : this.#idleOne();
    if (connection) connection.carry(flight);
    else this.#wait(flight);
    return flight;
  };

  close(): Promise<void> {
    this.#isClosed = true;
    this.#sweep?.cancel();
    for (const connection of this.#open) connection.destroy();
    for (const socket of this.#connecting) socket.destroy();
    for (const flight of [...this.#waiting]) this.#failWaiting(flight, new Error('Its client is closed.'));
    return Promise.resolve();
  }

  released(connection: Connection, keepMs = usualKeepMs + marginMs, heardAt: number): void {
    const [next] = this.#waiting;
    if (next) {
      this.#waiting.delete(next);
      return connection.carry(next);
    }
    const ms = Math.min(keepMs, longestKeepMs) - marginMs;
    if (ms <= 0 || this.#isClosed) return connection.destroy();
    connection.rest(heardAt + ms);
    this.#idle.push(connection);
  }

  closed(connection: Connection): void {
    this.#open.delete(connection);
    const at = this.#idle.lastIndexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#connectMore();
  }

  get isFull(): boolean {
    return this.#open.size >= this.#options.connections;
  }

  /** Who waits is not answered. */
  pause(): void {}
  resume(): void {}

  abandon(flight: Flight): void {
    this.#waiting.delete(flight);
    flight.carrier = undefined;
  }

  #idleOne(): Connection | undefined {
    const now = this.#idle.length > 0 ? this.#now() : 0;
    for (let one = this.#idle.pop(); one; one = this.#idle.pop()) {
      if (one.isOpen && one.keptUntil > now) return one;
      one.destroy();
    }
    return undefined;
  }

  #wait(flight: Flight): void {
    flight.carrier = this;
    this.#waiting.add(flight);
    this.#connectMore();
    if (this.#isClosed) process.nextTick(() => this.#failWaiting(flight, new Error('Its client is closed.')));
  }

  #connectMore(): void {
    const { connections } = this.#options;
    while (
      !this.#isClosed &&
      this.#connecting.size < this.#waiting.size &&
      this.#open.size + this.#connecting.size < connections
    )
      this.#connectOne();
  }

  #connectOne(): void {
    const socket = this.#connect((error, connected) => {
      this.#connecting.delete(connected);
      if (error) {
        const [oldest] = this.#waiting;
        if (oldest) this.#failWaiting(oldest, error);
        return this.#connectMore();
      }
      const connection = new Connection(connected, this, this.#now);
      this.#open.add(connection);
      this.#sweep ??= this.#sweepSoon();
      this.released(connection, undefined, this.#now());
    });
    this.#connecting.add(socket);
  }

  #failWaiting(flight: Flight, error: Error): void {
    if (!this.#waiting.delete(flight)) return;
    flight.carrier = undefined;
    flight.handler.failed(error);
  }

  #sweepSoon(): Timer {
    return this.#options.clock.after(sweepMs, () => {
      const now = this.#now();
      for (const one of this.#idle.filter(({ keptUntil }) => keptUntil <= now)) one.destroy();
      for (const one of this.#open) one.checkPause(now);
      this.#sweep = this.#open.size > 0 && !this.#isClosed ? this.#sweepSoon() : undefined;
    });
  }
}
