import type { ServerResponse } from 'node:http';

/** A property of the response: a `WeakSet` of them takes half a microsecond each, most of it in garbage collection. */
const isWhole = Symbol('written whole');

interface Marked extends ServerResponse {
  [isWhole]?: true;
}

/** Says that a response was written past Node, which takes it for one without an end. */
export function endedWhole(response: Marked): void {
  response[isWhole] = true;
}

/** Whether a response that has closed did so before its end. A switch of protocols has no end of its own. */
export function isCut(response: Marked): boolean {
  return !response.writableFinished && response.statusCode !== 101 && response[isWhole] !== true;
}
