// One queue under measurement: `process.ts <name>`. The parent says what to measure; see `../queue.ts`.
import { setTimeout } from 'node:timers/promises';
import { openBullMq } from './bullmq.ts';
import { openGraphileWorker } from './graphile-worker.ts';
import { openOverHttp } from './over-http.ts';
import { openPgBoss } from './pg-boss.ts';
import type { OpenQueue } from './queue.ts';

/** Between two dispatches. */
const idleMs = 10;

export type Measure =
  /** What each of so many items took, one after the other, to its worker that waits: milliseconds. */
  | { readonly dispatches: number }
  /** What so many items took, from `lanes` callers to `lanes` workers: milliseconds. */
  | { readonly items: number; readonly lanes: number };

const queues: Readonly<Record<string, OpenQueue>> = {
  gateway: openOverHttp('gateway'),
  bare: openOverHttp('bare'),
  'graphile-worker': openGraphileWorker,
  'pg-boss': openPgBoss,
  bullmq: openBullMq,
};
const open = queues[process.argv[2] ?? ''];
if (open === undefined) throw new Error(`There is no queue ${process.argv[2] ?? ''}.`);

process.on('message', (measure: Measure) => {
  void ('items' in measure ? throughput(open, measure) : dispatches(open, measure)).then((times) =>
    process.send?.(times),
  );
});
process.once('disconnect', () => process.exit());

async function dispatches(openQueue: OpenQueue, { dispatches: count }: { dispatches: number }) {
  let arrived: (at: number) => void = () => undefined;
  const taken = () => arrived(performance.now());
  let finished: () => void = () => undefined;
  const queue = await openQueue({ workers: 1, taken, done: () => finished() });
  const times: number[] = [];
  for (let item = -5; item < count; item++) {
    const arrival = new Promise<number>((resolve) => (arrived = resolve));
    const end = new Promise<void>((resolve) => (finished = resolve));
    const from = performance.now();
    const [at] = await Promise.all([arrival, queue.add(), end]);
    await setTimeout(idleMs); // the worker waits again
    if (item >= 0) times.push(at - from);
  }
  await queue.close();
  return times;
}

async function throughput(openQueue: OpenQueue, { items, lanes }: { items: number; lanes: number }) {
  let left = 0;
  let isOver: () => void = () => undefined;
  const queue = await openQueue({
    workers: lanes,
    taken: () => undefined,
    done() {
      if (--left === 0) isOver();
    },
  });
  async function run(count: number): Promise<number> {
    left = count;
    const over = new Promise<void>((resolve) => (isOver = resolve));
    const from = performance.now();
    let toAdd = count;
    const add = async () => {
      while (toAdd-- > 0) await queue.add();
    };
    await Promise.all([...Array.from({ length: lanes }, add), over]);
    return performance.now() - from;
  }
  await run(Math.ceil(items / 10));
  const ms = await run(items);
  await queue.close();
  return [ms];
}
