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
  const { store, clock, config, presence, reporter } = context;
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
      reporter.report({
        name: 'work.lapsed',
        severity: 'error',
        attributes: { work_id: work.workId, session_id: work.sessionId, state: work.state },
      });
    }
    if (lapsed.length < sweepSize) return;
  }
}
