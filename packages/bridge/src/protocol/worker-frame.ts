import { isJsonObject, nestsTooDeep } from '@sallyport/core';
import { isReservedEventType } from './events.ts';
import type { WorkerEvent, WorkerFrame } from './frames.ts';

/** What a worker's text frame means; `ignored`: a frame of the moment of a kind that this version does not know. */
export type ReadFrame =
  | { readonly kind: 'event'; readonly event: WorkerEvent }
  | { readonly kind: 'frame'; readonly frame: Exclude<WorkerFrame, WorkerEvent> }
  | { readonly kind: 'ignored' }
  | { readonly kind: 'bad'; readonly reason: string };

/** Reads one frame. An event without `data` has its other members as data. */
export function readWorkerFrame(text: string): ReadFrame {
  if (nestsTooDeep(text)) return { kind: 'bad', reason: 'The frame nests too deeply.' };
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return { kind: 'bad', reason: 'The frame is not JSON.' };
  }
  if (!isJsonObject(frame) || !isName(frame['type']))
    return { kind: 'bad', reason: 'A frame is a JSON object with a string type.' };
  if ('id' in frame) return readEvent(frame, frame['type']);
  switch (frame['type']) {
    case 'ack':
      return Number.isSafeInteger(frame['seq'])
        ? { kind: 'frame', frame: { type: 'ack', seq: frame['seq'] as number } }
        : { kind: 'bad', reason: 'An ack has a whole number as seq.' };
    case 'auth':
      return typeof frame['token'] === 'string'
        ? { kind: 'frame', frame: { type: 'auth', token: frame['token'] } }
        : { kind: 'bad', reason: 'An auth frame has a token.' };
    case 'worker.heartbeat':
      return { kind: 'frame', frame: { type: 'worker.heartbeat' } };
    default:
      return { kind: 'ignored' };
  }
}

function readEvent(frame: Record<string, unknown>, type: string): ReadFrame {
  const { id, type: _, data, ...rest } = frame;
  if (!isName(id))
    return { kind: 'bad', reason: "An event's id is well-formed text of 1 to 128 characters." };
  if (isReservedEventType(type)) return { kind: 'bad', reason: `Events of type ${type} are the service's.` };
  if (data !== undefined && !isJsonObject(data))
    return { kind: 'bad', reason: "An event's data is a JSON object." };
  return { kind: 'event', event: { id, type, data: data ?? rest } };
}

function isName(value: unknown): value is string {
  // A lone surrogate would be stored as U+FFFD, and two ids that differ become the same.
  return typeof value === 'string' && value.length >= 1 && value.length <= 128 && value.isWellFormed();
}
