import { timing, wake, type Context } from './context.ts';
import type { WorkerStreams } from './worker-streams.ts';

/** Items of one sweep's transaction. */
const sweepSize = 200;

/** Gives every lease the time that it could not be renewed while the service was down. */
export function graceLeases({ store, clock, config }: Context): Promise<void> {
  return store.acts.extendLeases({ until: clock.now() + config.restartGraceSeconds * 1000 });
}

/** Writes the signs of life of environments and workers, then judges what lapsed nevertheless. */
export async function sweepLeases(context: Context, streams: WorkerStreams): Promise<void> {
  const { store, clock, config, presence, log } = context;
  await presence.write('due');
  await streams.writeRenewals('due');
  for (;;) {
    const lapsed = await store.acts.lapseWork({
      ...timing(context),
      onlineSince: clock.now() - config.onlineSeconds * 1000,
      limit: sweepSize,
    });
    for (const work of lapsed) {
      wake(context, work);
      const { workId, sessionId, state } = work;
      log.warn({ work_id: workId, session_id: sessionId, state }, 'Work lapsed.');
    }
    if (lapsed.length < sweepSize) return;
  }
}
