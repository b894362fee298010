// How fast work is handed out, beside graphile-worker, pg-boss and BullMQ in one run:
// `node -C @sallyport/source tools/bench/queue.ts [rounds] [items a round] [dispatches a round]`, with PostgreSQL on
// 127.0.0.1:5432 (a database of its own is made and dropped) and redis-server on the PATH.
// Each of them is a library in the process that adds the items and works on them; a gateway is HTTP to another process, with
// the session and its log beside the item. BullMQ is as safe as its Redis: one server syncs every write, as PostgreSQL and the
// gateway do, the other once a second. Prints Markdown tables.
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@sallyport/core/testing';
import { Client } from 'pg';
import type { Measure } from './queue/process.ts';
import { median, quantile } from './timing.ts';

const rounds = Number(process.argv[2] ?? 3);
const items = Number(process.argv[3] ?? 2000);
const dispatches = Number(process.argv[4] ?? 50);
const lanes = 32;

const postgres = process.env['SALLYPORT_BENCH_POSTGRES'] ?? 'postgres://postgres@127.0.0.1:5432';
const database = `sallyport_bench_${process.pid}`;

async function administer(sql: string): Promise<void> {
  const client = new Client({ connectionString: `${postgres}/postgres` });
  await client.connect();
  await client.query(sql);
  await client.end();
}

/** Each write synced before its answer, or those of a second together. */
async function startRedis(
  appendfsync: 'always' | 'everysec',
): Promise<{ url: string; stop: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-bench-redis-'));
  const port = await freePort();
  const args = { port, dir: folder, bind: '127.0.0.1', save: '', appendonly: 'yes', appendfsync };
  const flags = Object.entries(args).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn('redis-server', flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let text = '';
  for await (const chunk of child.stdout) if ((text += String(chunk)).includes('Ready to accept')) break;
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      child.kill();
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
}

interface Contender {
  readonly name: string;
  readonly child: ChildProcess;
  readonly times: number[];
  readonly rates: number[];
}

function contender(name: string, program: string, env: NodeJS.ProcessEnv = {}): Contender {
  const file = fileURLToPath(new URL('queue/process.ts', import.meta.url));
  const child = fork(file, [program], { execArgv: process.execArgv, env: { ...process.env, ...env } });
  return { name, child, times: [], rates: [] };
}

async function ask({ name, child }: Contender, measure: Measure): Promise<readonly number[]> {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${name} has ended.`)));
  ended.catch(() => undefined);
  child.send(measure);
  const [times] = (await Promise.race([once(child, 'message'), ended])) as [number[]];
  return times;
}

await administer(`CREATE DATABASE ${database}`);
const [synced, lazy] = await Promise.all([startRedis('always'), startRedis('everysec')]);
const onPostgres = { SALLYPORT_BENCH_DATABASE: `${postgres}/${database}` };
const contenders = [
  contender('gateway, over HTTP', 'gateway'),
  contender('graphile-worker', 'graphile-worker', onPostgres),
  contender('pg-boss', 'pg-boss', onPostgres),
  contender('BullMQ, every write synced', 'bullmq', { SALLYPORT_BENCH_REDIS: synced.url }),
  contender('BullMQ, synced once a second', 'bullmq', { SALLYPORT_BENCH_REDIS: lazy.url }),
  contender('bare Fastify, in memory', 'bare'),
];
const load = () => loadavg()[0]?.toFixed(1) ?? '';
const began = load();
try {
  for (let round = 0; round < rounds; round++)
    for (const one of contenders) {
      one.times.push(...(await ask(one, { dispatches })));
      const [ms = NaN] = await ask(one, { items, lanes });
      one.rates.push(items / (ms / 1000));
    }
} finally {
  const exits = contenders.map(({ child }) => (child.exitCode === null ? once(child, 'exit') : undefined));
  for (const { child } of contenders) if (child.connected) child.disconnect();
  await Promise.all([...exits, synced.stop(), lazy.stop()]);
  await administer(`DROP DATABASE ${database} WITH (FORCE)`);
}

console.log(
  `${rounds} rounds: ${dispatches} items one by one, then ${items} from ${lanes} callers to ${lanes} workers; load ${began} to ${load()}\n`,
);
console.log(
  '| Queue | Dispatch p50 ms | p99 ms | Items a second, median (range) | Gateway beside it: p50, items |',
);
console.log('|---|---|---|---|---|');
const [ours] = contenders;
for (const { name, times, rates } of contenders) {
  const [p50, rate] = [median(times), median(rates)];
  const range = `${Math.min(...rates).toFixed(0)}-${Math.max(...rates).toFixed(0)}`;
  const beside = `${(median(ours?.times ?? []) / p50).toFixed(2)}, ${(median(ours?.rates ?? []) / rate).toFixed(2)}`;
  const cells = [p50.toFixed(2), quantile(times, 0.99).toFixed(2), `${rate.toFixed(0)} (${range})`, beside];
  console.log(`| ${[name, ...cells].join(' | ')} |`);
}
