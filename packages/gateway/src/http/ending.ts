import type { ServerResponse } from 'node:http';

/** How an answer ended. After a switch of protocols the status is 101, and the answer itself never finishes. */
export type Ending = Pick<ServerResponse, 'statusCode' | 'writableFinished'>;

/** An object, and not a function with what it names around it: each answer has some. */
export interface EndListener {
  ended(ending: Ending): void;
}

const told = Symbol('whom to tell of the end');

interface Answer extends ServerResponse {
  [told]?: readonly EndListener[] | undefined;
}

/** Tells `listener` when the answer is out or cut off, or when the connection is gone that it became; at once if it is. */
export function whenEnded(answer: Answer, listener: EndListener): void {
  if (answer.closed) return listener.ended(answer);
  const before = answer[told];
  if (before === undefined) answer.on('close', tellAll);
  answer[told] = (before ?? []).concat(listener); // not spread: that would make room for sixteen more
}

function tellAll(this: Answer): void {
  for (const listener of endLater(this)) listener.ended(this);
}

/**
 * Takes over whom to tell from an answer in whose place a connection is handed over: they are to be told when that is gone. A
 * connection lasts, and neither its request nor its answer has to.
 */
export function endLater(answer: Answer): readonly EndListener[] {
  const listeners = answer[told] ?? [];
  answer[told] = undefined;
  return listeners;
}

const switched: Ending = { statusCode: 101, writableFinished: false };

/** Tells those whom `endLater` gave that the connection is gone. */
export function connectionEnded(listeners: readonly EndListener[]): void {
  for (const listener of listeners) listener.ended(switched);
}
