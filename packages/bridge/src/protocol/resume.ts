/** Where a reader of a session's log wants to go on: after this `seq`; `unknown`: at a place that names no event. */
export type ResumeFrom = number | 'unknown' | undefined;

/** `?from_seq=N` or `Last-Event-ID: N`; the header wins, because a browser's reconnect sends both. */
export function resumeFrom(query: number | undefined, lastEventId: string | undefined): ResumeFrom {
  if (lastEventId === undefined || lastEventId === '') return query;
  return /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : 'unknown';
}

/**
 * The cursor to read after. A place that the log does not have, be it trimmed away or beyond the end, is never passed
 * over in silence: `isLost`, and reading goes on from the oldest event.
 */
export function placeInLog(
  from: ResumeFrom,
  log: { readonly oldestSeq: number; readonly lastSeq: number },
  fallback: number,
): { readonly after: number; readonly isLost: boolean } {
  const after = from ?? fallback;
  const isThere = after !== 'unknown' && after >= log.oldestSeq - 1 && after <= log.lastSeq;
  // Nothing asked for, and the beginning trimmed away: that is lost too.
  return isThere ? { after, isLost: false } : { after: log.oldestSeq - 1, isLost: true };
}
