import { ServiceError } from '@sallyport/core';
import { batchLimits } from '@sallyport/core/contract';
import { Judging } from './judging.ts';
import { judgeLogRecord, type TelemetryRecord } from './log-record.ts';

/** The number first: a client that sends too many must learn that, not what is wrong with one of them. */
export function judgeBatch(events: readonly unknown[], receivedAt: number): TelemetryRecord[] {
  const { maxEvents } = batchLimits;
  if (events.length > maxEvents)
    throw new ServiceError('too_many_events', `A batch has at most ${maxEvents} events.`, {
      details: { max_events: maxEvents },
    });
  const judging = new Judging('events');
  const records: TelemetryRecord[] = [];
  for (const [index, event] of events.entries()) {
    judging.enter(index);
    const record = judgeLogRecord(event, judging, receivedAt);
    judging.leave();
    if (record) records.push(record);
  }
  const { faults } = judging;
  if (faults.length > 0)
    throw new ServiceError('invalid_request', 'The batch has malformed events; none was stored.', {
      issues: faults.map(({ path, message }) => ({ path, message })),
    });
  return records;
}

/** The endpoint's table has no 503; 429 is what its clients wait and come again after. */
export function throwRetryable(error: unknown): never {
  if (error instanceof ServiceError && error.status === 503)
    throw new ServiceError('temporarily_unavailable', 'Events cannot be stored now.', {
      retryAfterMs: error.retryAfterMs ?? 1000,
      cause: error,
    });
  throw error;
}
