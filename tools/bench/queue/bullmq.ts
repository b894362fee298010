import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { OpenQueue } from './queue.ts';

/** BullMQ with its defaults, and as many jobs at once as there are workers; where `SALLYPORT_BENCH_REDIS` is. */
export const openBullMq: OpenQueue = async ({ workers, taken, done }) => {
  const url = process.env['SALLYPORT_BENCH_REDIS'] ?? '';
  const connect = () => new Redis(url, { maxRetriesPerRequest: null });
  const [forQueue, forWorker] = [connect(), connect()];
  const name = `item${workers}`;
  const prefix = `sallyport-bench-${process.pid}`;
  const queue = new Queue(name, { connection: forQueue, prefix });
  const worker = new Worker(name, async () => taken(), {
    connection: forWorker,
    prefix,
    concurrency: workers,
  });
  worker.on('completed', () => done());
  worker.on('error', (error) => console.error(error));
  await worker.waitUntilReady();
  return {
    async add() {
      await queue.add('item', { path: '/src' });
    },
    async close() {
      await worker.close();
      await queue.obliterate({ force: true });
      await queue.close();
      forQueue.disconnect();
      forWorker.disconnect();
    },
  };
};
