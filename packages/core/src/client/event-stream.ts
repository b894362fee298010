import { TransportError } from '../errors.ts';
import { contract, type SessionEvent } from '../contract/index.ts';
import { readServerSentEvents } from '../transport/sse.ts';
import { send, type CallOptions, type ClientOptions } from './call.ts';

/** A frame of a session's event stream: an event of the log, or a notice that has no `seq` of its own. */
export type StreamFrame =
  | { readonly kind: 'event'; readonly event: SessionEvent }
  | { readonly kind: 'notice'; readonly type: string; readonly data: unknown };

/**
 * Follows a session's events after `fromSeq` (0: from the beginning) over one connection, until the service ends it.
 * Reconnecting is the caller's: it knows the last `seq` that it took.
 */
export async function* streamSession(
  options: ClientOptions,
  sessionId: string,
  { fromSeq = 0, ...call }: CallOptions & { readonly fromSeq?: number } = {},
): AsyncIterable<StreamFrame> {
  const answer = await send(
    options,
    contract.sessions.stream,
    { params: { id: sessionId }, query: { beta: 'true', from_seq: fromSeq } },
    call,
  );
  for await (const { event, data, id } of readServerSentEvents(answer.stream())) {
    const value = parse(data);
    if (id === undefined || event !== 'message') yield { kind: 'notice', type: event, data: value };
    else yield { kind: 'event', event: value as SessionEvent };
  }
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch (cause) {
    throw new TransportError('unexpected_answer', 'the event stream has an event that is not JSON', {
      cause,
    });
  }
}
