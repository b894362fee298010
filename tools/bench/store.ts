// What group commit is worth: `node -C @sallyport/source tools/bench/store.ts` (about a minute). Prints Markdown tables.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import type { Areas } from '../../packages/gateway/src/store/embedded/acts.ts';
import { createBatchRunner } from '../../packages/gateway/src/store/embedded/batch.ts';
import { openDatabase } from '../../packages/gateway/src/store/embedded/database.ts';
import { migrate, type Migration } from '../../packages/gateway/src/store/embedded/migrate.ts';
import type { BatchLimits } from '../../packages/gateway/src/store/embedded/protocol.ts';
import { openReader } from '../../packages/gateway/src/store/embedded/reader.ts';
import { openWriter } from '../../packages/gateway/src/store/embedded/writer.ts';

// This file is also the contents of the store that it measures.
export const migrations: readonly Migration[] = [
  {
    name: 'bench',
    sql: `CREATE TABLE work (id INTEGER PRIMARY KEY, state TEXT NOT NULL, touched INTEGER NOT NULL) STRICT;
      CREATE TABLE grant_log (id INTEGER PRIMARY KEY, work INTEGER NOT NULL, at INTEGER NOT NULL) STRICT;
      CREATE TABLE event (session INTEGER NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
        UNIQUE (session, seq), UNIQUE (session, id)) STRICT;
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
        INSERT INTO work SELECT i, 'queued', 0 FROM n;`,
  },
];
export const areas = { bench: benchActs } satisfies Areas;

function benchActs(db: DatabaseSync) {
  const touch = db.prepare('UPDATE work SET touched = ? WHERE id = ?');
  const log = db.prepare('INSERT INTO grant_log (work, at) VALUES (?, ?)');
  const last = db.prepare('SELECT coalesce(max(seq), 0) AS seq FROM event WHERE session = ?');
  const append = db.prepare('INSERT INTO event (session, seq, id, body) VALUES (?, ?, ?, ?)');
  const find = db.prepare('SELECT id, state, touched FROM work WHERE id = ?');
  return {
    small({ n }: { n: number; body: string }) {
      touch.run(n, (n % 10_000) + 1);
      log.run(n, n);
      return n;
    },
    event({ n, body }: { n: number; body: string }) {
      const session = n % 100;
      const seq = Number(last.get(session)?.['seq']) + 1;
      append.run(session, seq, `evt_${String(n)}`, body);
      return seq;
    },
    read: ({ n }: { n: number }) => find.get((n % 10_000) + 1),
  };
}

type Act = (input: { n: number; body: string }) => Promise<unknown>;

interface Figures {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** 99th percentile and maximum of the main thread's event-loop delay, in ms. */
  readonly loop: string;
}

/** `callers` callers, each of which awaits its act before it asks for the next. */
async function drive(callers: number, body: string, act: Act): Promise<Figures> {
  const latencies: number[] = [];
  const loop = monitorEventLoopDelay({ resolution: 1 });
  let n = 0;
  let counting = false;
  let ending = false;
  async function caller(): Promise<void> {
    while (!ending) {
      const from = performance.now();
      await act({ n: n++, body });
      if (counting) latencies.push(performance.now() - from);
    }
  }
  const callersEnd = Promise.all(Array.from({ length: callers }, caller));
  await setTimeout(300);
  loop.enable();
  counting = true;
  const from = performance.now();
  await setTimeout(2000);
  const seconds = (performance.now() - from) / 1000;
  counting = false;
  loop.disable();
  const perSecond = latencies.length / seconds;
  ending = true;
  await callersEnd;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? NaN;
  // The monitor counts its own 1 ms of waiting.
  const delay = (ns: number) => Math.max(0, ns / 1e6 - 1).toFixed(1);
  return {
    perSecond,
    p50: at(0.5),
    p99: at(0.99),
    loop: `${delay(loop.percentile(99))} / ${delay(loop.max)}`,
  };
}

async function inScratch<T>(measure: (path: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(process.env['SALLYPORT_BENCH_DIR'] ?? tmpdir(), 'sallyport-bench-'));
  try {
    return await measure(join(directory, 'store.db'));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function openWith(path: string, batch: Partial<BatchLimits>) {
  return openWriter<typeof areas>({ path, batch, contents: new URL(import.meta.url) });
}

/** A commit an act, on the thread that serves the requests: what `node:sqlite` used plainly does. */
function onMainThread(kind: 'small' | 'event', callers: number, body: string): Promise<Figures> {
  return inScratch(async (path) => {
    const db = openDatabase(path);
    migrate(db, migrations, { now: 0, apply: true });
    const run = createBatchRunner(db, { bench: benchActs(db) }, { acts: 1, ms: 1000 });
    const figures = await drive(callers, body, async (argument) => {
      // Each request is an event of its own.
      await new Promise(setImmediate);
      return run([{ id: 0, area: 'bench', act: kind, argument }]);
    });
    db.close();
    return figures;
  });
}

function inThread(
  kind: 'small' | 'event',
  callers: number,
  body: string,
  batch: Partial<BatchLimits>,
): Promise<Figures & { acts: number }> {
  return inScratch(async (path) => {
    const writer = await openWith(path, batch);
    const figures = await drive(callers, body, writer.area('bench')[kind]);
    const { acts, batches } = writer.stats();
    await writer.close();
    return { ...figures, acts: acts / batches };
  });
}

function row(name: string, callers: number, figures: Figures, acts = 1): void {
  const { perSecond, p50, p99, loop } = figures;
  const cells = [
    name,
    callers,
    Math.round(perSecond).toLocaleString('en'),
    acts.toFixed(0),
    p50.toFixed(2),
    p99.toFixed(2),
    loop,
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

async function compareCommits(): Promise<void> {
  const loads = [
    ['update + insert', 'small', ''],
    ['append 200 B', 'event', 'x'.repeat(200)],
    ['append 16 KiB', 'event', 'x'.repeat(16 * 1024)],
  ] as const;
  for (const [title, kind, body] of loads) {
    console.log(`\n**${title}**\n`);
    console.log('| Way | Callers | Acts/s | Acts a commit | p50 ms | p99 ms | Loop delay p99 / max ms |');
    console.log('|---|---|---|---|---|---|---|');
    for (const callers of [1, 32, 512]) {
      row('commit an act, main thread', callers, await onMainThread(kind, callers, body));
      row('commit an act, writer thread', callers, await inThread(kind, callers, body, { acts: 1 }));
      const grouped = await inThread(kind, callers, body, {});
      row('group commit', callers, grouped, grouped.acts);
    }
  }
}

async function compareReads(): Promise<void> {
  console.log('\n**Read of one row by key**\n');
  console.log('| Way | Callers | Reads/s | | p50 ms | p99 ms | Loop delay p99 / max ms |');
  console.log('|---|---|---|---|---|---|---|');
  await inScratch(async (path) => {
    const writer = await openWith(path, {});
    const reader = openReader(path);
    const query = reader.query('SELECT id, state, touched FROM work WHERE id = ?');
    for (const callers of [1, 32]) {
      const direct = await drive(callers, '', async ({ n }) => {
        await new Promise(setImmediate);
        return query.get((n % 10_000) + 1);
      });
      row('main thread', callers, direct);
      row('writer thread', callers, await drive(callers, '', writer.area('bench').read));
    }
    const from = performance.now();
    for (let n = 0; n < 100_000; n++) query.get((n % 10_000) + 1);
    console.log(
      `\nOne such read holds the main thread for ${((performance.now() - from) / 100).toFixed(1)} µs.`,
    );
    reader.close();
    await writer.close();
  });
}

if (import.meta.main) {
  console.log(
    `Node.js ${process.version}, ${String(cpus().length)} x ${cpus()[0]?.model ?? 'unknown'}, ${new Date().toISOString().slice(0, 10)}`,
  );
  await compareCommits();
  await compareReads();
}
