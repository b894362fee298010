import type { AnswerHandler, Control, Outgoing } from '../dispatch.ts';
import type { RequestHead } from './request-head.ts';

/** What carries a request, or has it wait for that. */
export interface Carrier {
  /** Whether it has another one wait because there can be no more connections. */
  readonly isFull?: boolean;
  pause(): void;
  resume(): void;
  abandon(flight: Flight, reason: Error): void;
}

/** A request on its way, from where it waits for a connection until its answer is here. */
export class Flight implements Control {
  readonly request: Outgoing;
  readonly handler: AnswerHandler;
  readonly head: RequestHead;
  /** `undefined`: it is over. */
  carrier: Carrier | undefined;

  constructor(request: Outgoing, handler: AnswerHandler, head: RequestHead) {
    this.request = request;
    this.handler = handler;
    this.head = head;
  }

  get waitsItsTurn(): boolean {
    return this.carrier?.isFull === true;
  }

  pause(): void {
    this.carrier?.pause();
  }

  resume(): void {
    this.carrier?.resume();
  }

  abort(reason: Error): void {
    this.carrier?.abandon(this, reason);
  }
}
