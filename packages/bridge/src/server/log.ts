import { ServiceError, toTimestamp, type Ids } from '@sallyport/core';
import type { NewEvent, SessionEvent } from '@sallyport/core/contract';
import { isReservedForClients } from '../protocol/events.ts';
import type { EventDraft, StoredEvent } from './records.ts';

/** Events of a client, or a worker, as the log takes them. Throws `invalid_request` naming each of a type that is not its to send. */
export function draftEvents(
  events: readonly NewEvent[],
  ids: Ids,
  isReserved = isReservedForClients,
): readonly EventDraft[] {
  const issues = events.flatMap(({ type }, index) =>
    isReserved(type)
      ? [{ path: `events/${String(index)}/type`, message: 'is a type of events that you do not send' }]
      : [],
  );
  if (issues.length > 0)
    throw new ServiceError('invalid_request', 'Some events are of a reserved type.', { issues });
  return events.map(({ id, type, data, ...rest }) => ({
    id: id ?? ids.next('evt'),
    type,
    data: data ?? rest,
  }));
}

/** One stored event may go to many readers: it is put into words once. */
const sessionEvents = new WeakMap<StoredEvent, SessionEvent>();

/** An event as it goes over the wire. */
export function toSessionEvent(sessionId: string, stored: StoredEvent): SessionEvent {
  const known = sessionEvents.get(stored);
  if (known !== undefined) return known;
  const { id, seq, type, createdAt, data } = stored;
  const event = { id, seq, type, session_id: sessionId, created_at: toTimestamp(createdAt), data };
  sessionEvents.set(stored, event);
  return event;
}

export function noSuchSession(id: string): ServiceError {
  return new ServiceError('not_found', `There is no session ${id}.`);
}
