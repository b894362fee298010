import { Logger, makeWorkerUtils, run, runMigrations } from 'graphile-worker';
import type { OpenQueue } from './queue.ts';

/** graphile-worker as its page on performance sets it: a connection per worker, and a local queue where there are many. */
export const openGraphileWorker: OpenQueue = async ({ workers, taken, done }) => {
  const connectionString = process.env['SALLYPORT_BENCH_DATABASE'] ?? '';
  const logger = new Logger(() => () => undefined);
  const shared = { connectionString, logger, maxPoolSize: workers + 2 };
  await runMigrations(shared);
  const many = workers > 1;
  const runner = await run({
    ...shared,
    concurrency: workers,
    noHandleSignals: true,
    taskList: { [`item${workers}`]: () => taken() },
    ...(many && { preset: { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0 } } }),
  });
  runner.events.on('job:complete', done);
  const utils = await makeWorkerUtils(shared);
  return {
    async add() {
      await utils.addJob(`item${workers}`, { path: '/src' });
    },
    async close() {
      await utils.release();
      await runner.stop();
    },
  };
};
