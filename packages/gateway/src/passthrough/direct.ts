import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@sallyport/core';
import type { FastifyBaseLogger } from 'fastify';
import type { Direct } from '../http/direct-routes.ts';
import type { DirectWay } from '../http/direct-way.ts';
import type { Meter } from '../metrics/traffic.ts';
import type { Forwarder } from './forward.ts';
import type { Occupancy } from './occupancy.ts';
import type { Passing } from './passing.ts';

export interface DirectOptions {
  readonly way: DirectWay;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly occupancy: Occupancy;
  readonly forward: Forwarder;
  /** The contract's, for the access log. */
  readonly row: string | undefined;
}

/** Passes requests on whose callers are not checked here, nor their bodies: Fastify has nothing to do for them. */
export function directly({ way, clock, meter, occupancy, forward, row }: DirectOptions): Direct {
  return (request, response) => {
    const arrived = clock.monotonic();
    const passing = new DirectPassing(request, response, way, way.begin(request, response, row));
    occupancy.count(response);
    meter.count(response);
    try {
      forward(passing, arrived)?.catch((error: unknown) => passing.refuse(error));
    } catch (error) {
      passing.refuse(error);
    }
  };
}

class DirectPassing implements Passing {
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  readonly id: string;
  readonly #way: DirectWay;

  constructor(raw: IncomingMessage, response: ServerResponse, way: DirectWay, id: string) {
    this.raw = raw;
    this.response = response;
    this.id = id;
    this.#way = way;
  }

  get log(): FastifyBaseLogger {
    return this.#way.logOf(this.id);
  }

  taken(): void {
    // Nobody else would write.
  }

  refuse(error: unknown): void {
    this.#way.refuse(this.raw, this.response, { id: this.id, error });
  }
}
