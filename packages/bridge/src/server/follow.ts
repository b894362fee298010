import { createLatch } from '@sallyport/core';
import type { SessionEvent } from '@sallyport/core/contract';
import { placeInLog, type ResumeFrom } from '../protocol/resume.ts';
import type { Context } from './context.ts';
import { toSessionEvents } from './log.ts';
import type { SessionHead } from './records.ts';
import { sessionTopic } from './topics.ts';

/** What a follower of a session gets: an event of the log, or a notice without a place in it. */
export type FollowerItem =
  | { readonly kind: 'event'; readonly event: SessionEvent }
  | {
      readonly kind: 'notice';
      readonly type: 'caught_up' | 'resync_required';
      readonly data: Readonly<Record<string, unknown>>;
    };

/**
 * Reads a session's log on as it grows, until the signal aborts or the session is deleted. It pulls from a cursor of its
 * own: a slow reader holds one page and delays nobody.
 */
export async function* followLog(
  { store, accounts, wakeups, clock, config }: Context,
  sessionId: string,
  head: SessionHead,
  { from, signal }: { readonly from: ResumeFrom; readonly signal: AbortSignal },
): AsyncGenerator<FollowerItem, void, void> {
  const latch = createLatch();
  // Before the first read: what is appended between the two must wake.
  wakeups.subscribe(sessionTopic(sessionId), latch);
  // Another process may delete the session without a word to this one.
  const look = () => {
    latch.wake();
    timer = clock.after(config.pingSeconds * 1000, look);
  };
  let timer = clock.after(config.pingSeconds * 1000, look);
  try {
    const { after, isLost } = placeInLog(from, head, head.oldestSeq - 1);
    if (isLost) yield { kind: 'notice', type: 'resync_required', data: { oldest_seq: head.oldestSeq } };
    let cursor = after;
    let caughtUp = false;
    while (!signal.aborted) {
      const page = await store.reads.events({
        sessionId,
        after: cursor,
        maxEvents: config.pageEvents,
        maxBytes: config.pageBytes,
      });
      const [first] = page.events;
      // What this reader has yet to read was removed meanwhile.
      if (first !== undefined && first.seq > cursor + 1)
        yield { kind: 'notice', type: 'resync_required', data: { oldest_seq: first.seq } };
      for (const event of await toSessionEvents(accounts, sessionId, page.events))
        yield { kind: 'event', event };
      if (page.scannedTo > cursor) {
        cursor = page.scannedTo;
        continue;
      }
      if (!caughtUp) yield { kind: 'notice', type: 'caught_up', data: { seq: cursor } };
      caughtUp = true;
      if (!(await store.reads.sessionHead({ sessionId }))) return;
      await latch.wait(signal);
    }
  } finally {
    timer.cancel();
    wakeups.unsubscribe(sessionTopic(sessionId), latch);
  }
}
