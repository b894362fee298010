import { ServiceError, toTimestamp, type AccountEmails, type Ids } from '@sallyport/core';
import type { NewEvent, SessionEvent } from '@sallyport/core/contract';
import { isReservedForClients } from '../protocol/events.ts';
import { shownAccounts } from './accounts.ts';
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

/** A page that is read may go to many readers: it is put into words once. */
const worded = new WeakMap<readonly StoredEvent[], readonly SessionEvent[]>();

/** Events of a session as they go over the wire, with who sent them. */
export async function toSessionEvents(
  accounts: AccountEmails,
  sessionId: string,
  page: readonly StoredEvent[],
): Promise<readonly SessionEvent[]> {
  const known = worded.get(page);
  if (known !== undefined) return known;
  const shown = await shownAccounts(
    accounts,
    page.map(({ accountId }) => accountId),
  );
  // Another reader may have been faster: all have the same ones, which are written out once, too.
  const events =
    worded.get(page) ??
    page.map(({ id, seq, type, accountId, createdAt, data }) => ({
      id,
      seq,
      type,
      session_id: sessionId,
      ...(accountId !== null && { account: shown(accountId) }),
      created_at: toTimestamp(createdAt),
      data,
    }));
  worded.set(page, events);
  return events;
}

export function noSuchSession(id: string): ServiceError {
  return new ServiceError('not_found', `There is no session ${id}.`);
}
