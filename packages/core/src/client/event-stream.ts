import { TransportError } from '../errors.ts';
import { contract, type InputFor, type SessionEvent, type TelemetryRecord } from '../contract/index.ts';
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

/**
 * Follows the records that the service stores, behind `afterId` or from now on, over one connection. The first item tells
 * the id behind which they begin, so that a caller who reconnects misses none.
 */
export async function* streamRecords(
  options: ClientOptions,
  query: Omit<NonNullable<InputFor<typeof contract.telemetry.tail>['query']>, 'from_id'>,
  { afterId, ...call }: CallOptions & { readonly afterId?: number | undefined } = {},
): AsyncIterable<{ readonly id: number; readonly record?: TelemetryRecord }> {
  const asked = { query: { ...query, ...(afterId !== undefined && { from_id: afterId }) } };
  const answer = await send(options, contract.telemetry.tail, asked, call);
  for await (const { event, data, id } of readServerSentEvents(answer.stream())) {
    if (event === 'started') yield { id: Number(id) };
    else if (event === 'message') yield { id: Number(id), record: parse(data) as TelemetryRecord };
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
