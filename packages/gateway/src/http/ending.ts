import type { ServerResponse } from 'node:http';

/** How an answer ended. After a switch of protocols the status is 101, and the answer itself never finishes. */
export type Ending = Pick<ServerResponse, 'statusCode' | 'writableFinished'>;

const told = Symbol('whom to tell of the end');

interface Answer extends ServerResponse {
  [told]?: readonly ((ending: Ending) => void)[] | undefined;
}

/** Runs `tell` when the answer is out or cut off, or when the connection is gone that it became. */
export function whenEnded(answer: Answer, tell: (ending: Ending) => void): void {
  const before = answer[told];
  if (before === undefined) answer.on('close', tellAll);
  answer[told] = (before ?? []).concat(tell); // not spread: that would make room for sixteen more
}

function tellAll(this: Answer): void {
  const all = this[told] ?? [];
  this[told] = undefined;
  for (const tell of all) tell(this);
}

const switched: Ending = { statusCode: 101, writableFinished: false };

/**
 * Takes over whom to tell from an answer in whose place a connection is handed over: gives what is to be run when that is
 * gone. A connection lasts, and neither its request nor its answer has to.
 */
export function endLater(answer: Answer): () => void {
  const all = answer[told] ?? [];
  answer[told] = undefined;
  return () => {
    for (const tell of all) tell(switched);
  };
}
