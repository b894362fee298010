import { PgBoss } from 'pg-boss';
import type { OpenQueue } from './queue.ts';

/** pg-boss with what it has for speed: NOTIFY wakes the worker, which fetches batches as long as they are full. */
export const openPgBoss: OpenQueue = async ({ workers, taken, done }) => {
  const connectionString = process.env['SALLYPORT_BENCH_DATABASE'] ?? '';
  const boss = new PgBoss({ connectionString, useListenNotify: true, max: workers + 2 });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  const name = `item${workers}`;
  await boss.createQueue(name, { notify: true });
  const many = workers > 1;
  const options = {
    pollingIntervalSeconds: 0.5,
    notifyPollingIntervalSeconds: 0.5,
    ...(many && { batchSize: 100, burstWhenBatchFull: true }),
  };
  await boss.work(name, options, async (jobs) => {
    for (const _job of jobs) {
      taken();
      done(); // pg-boss says of no single job that it is completed: its batch is, once this returns
    }
  });
  return {
    async add() {
      await boss.send(name, { path: '/src' });
    },
    close: () => boss.stop({ graceful: false }),
  };
};
