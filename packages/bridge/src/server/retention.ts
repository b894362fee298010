import type { Context } from './context.ts';
import { sessionTopic } from './topics.ts';

/** Events of one sweep's transaction. */
const sweepSize = 1000;

/** Removes what `logRetentionSeconds` keeps no longer, in transactions of a bounded size, until `signal` aborts. */
export async function sweepLogs(
  { store, clock, config, wakeups, log }: Context,
  signal: AbortSignal,
): Promise<void> {
  if (config.logRetentionSeconds === 0) return;
  const before = clock.now() - config.logRetentionSeconds * 1000;
  let sessions = 0;
  for (let after: string | undefined = ''; after !== undefined && !signal.aborted;) {
    const { removed, next }: Awaited<ReturnType<typeof store.acts.expireLogs>> = await store.acts.expireLogs({
      before,
      after,
      limit: sweepSize,
    });
    for (const id of removed) wakeups.notify(sessionTopic(id));
    sessions += removed.length;
    after = next;
  }
  if (sessions > 0) log.info({ sessions }, 'Sessions that ended long ago were removed.');
}
