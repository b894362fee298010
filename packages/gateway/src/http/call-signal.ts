import type { ServerResponse } from 'node:http';
import { ServiceError } from '@sallyport/core';

export interface CallSignal {
  readonly signal: AbortSignal;
  readonly end: () => void;
}

/** The signal of one call: aborts when the caller hangs up before the answer is out, when `other` aborts, or on `end`. */
export function callSignal(response: ServerResponse, other?: AbortSignal): CallSignal {
  const controller = new AbortController();
  const end = () => controller.abort(new ServiceError('draining', 'The stream has ended.'));
  const follow = () => controller.abort(other?.reason);
  if (other?.aborted === true) follow();
  other?.addEventListener('abort', follow, { once: true });
  const closed = () => {
    other?.removeEventListener('abort', follow);
    if (!response.writableFinished) controller.abort(new Error('The caller hung up.'));
  };
  // The caller may have gone while it was asked who it is, or before its body was in.
  if (response.closed) closed();
  else response.once('close', closed);
  return { signal: controller.signal, end };
}
