import type { ServerResponse } from 'node:http';
import type { Ending } from './ending.ts';

/** A property of the response: a `WeakSet` of them takes half a microsecond each, most of it in garbage collection. */
const isWhole = Symbol('written whole');

interface Marked {
  [isWhole]?: true;
}

/** Says that a response was written past Node, which takes it for one without an end. */
export function endedWhole(response: ServerResponse & Marked): void {
  response[isWhole] = true;
}

/** Whether an answer ended before its end. A switch of protocols has no end of its own. */
export function isCut(ending: Ending & Marked): boolean {
  return !ending.writableFinished && ending.statusCode !== 101 && ending[isWhole] !== true;
}
