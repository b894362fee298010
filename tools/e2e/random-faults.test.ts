import { afterAll, describe, expect, onTestFailed, test } from 'vitest';
import { benchPool } from './steps/bench-pool.ts';
import { Job } from './steps/job.ts';
import { describePlan, faultKinds, planOf, runWith, type FaultKind } from './steps/random-faults.ts';
import { within } from './steps/within.ts';

// The main job with faults drawn at random, by seed: `npm run test:faults -- --runs 1000 --seed 1`.
const runs = Number(process.env['SALLYPORT_FAULT_RUNS'] ?? 100);
const firstSeed = Number(process.env['SALLYPORT_FAULT_SEED'] ?? 1);
const plans = Array.from({ length: runs }, (_, at) => planOf(firstSeed + at));

afterAll(() => console.log(summary()));

const output = 'one\nprompts: 1\ntwo\n';
const tally = { faults: new Map<FaultKind, number>(), ends: new Map<unknown, number>(), acknowledged: 0 };

// `flock`, and looking for processes by their environment.
const onLinux = describe.skipIf(process.platform !== 'linux');
onLinux.each([...Map.groupBy(plans, ({ topology }) => topology)])(
  'faults at random, $name',
  (topology, its) => {
    const benches = benchPool(topology);
    test.concurrent.each(its.map((plan) => [describePlan(plan), plan] as const))(
      '%s',
      async (_, plan) => {
        const bench = benches.pop()!;
        const job = new Job(bench);
        onTestFailed(() => console.error(`${bench.seen}\n${job.screen}`));
        try {
          const { met, outcome } = await within(50_000, runWith(plan, bench, job));
          for (const kind of met) count(tally.faults, kind);
          count(tally.ends, outcome.status);
          tally.acknowledged += bench.proxyBefore('gateway').acknowledged.length;
          expect(outcome.exitCode).toBe(outcome.status === 'done' ? 0 : 1);
          if (!met.includes('bridge killed') && !met.includes('process killed'))
            expect(outcome).toEqual({ exitCode: 0, status: 'done', output, starts: 1 });
          if (outcome.status === 'done') expect(outcome.output).toBe(output);
          else expect(['failed', 'stopped']).toContain(outcome.status);
        } finally {
          await job.abandon();
          benches.push(bench);
        }
      },
      60_000,
    );
  },
);

function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function summary(): string {
  const faults = faultKinds.map((kind) => `${tally.faults.get(kind) ?? 0} ${kind}`).join(', ');
  const ends = [...tally.ends].map(([status, times]) => `${times} ${String(status)}`).join(', ');
  return `${runs} runs from seed ${firstSeed}: ${faults}; ended ${ends}; ${tally.acknowledged} events acknowledged, each stored once`;
}
