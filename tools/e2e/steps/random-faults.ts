import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '@sallyport/core';
import { seededRandom } from '@sallyport/core/testing';
import { topologies, type GatewayName, type Topology } from '../topologies.ts';
import type { StepBench } from './bench.ts';
import type { Job, Outcome } from './job.ts';

/** `stall`: the connection is silent for a while, then cut: what a half-open one looks like. */
export const faultKinds = [
  'gateway killed',
  'bridge killed',
  'process killed',
  'cut',
  'delay',
  'stall',
] as const;
export type FaultKind = (typeof faultKinds)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** The gateway that is killed, or before which the rest happens. */
  readonly at: GatewayName;
  /** How much goes by undisturbed since the fault before. */
  readonly after: number;
  /** How long a delay or a stall is. */
  readonly ms: number;
}

export interface FaultPlan {
  readonly seed: number;
  readonly topology: Topology;
  readonly faults: readonly Fault[];
  /** Whether the command may end at once, or only when the faults are over. */
  readonly ends: 'at once' | 'afterwards';
}

export function planOf(seed: number): FaultPlan {
  const random = seededRandom(seed);
  const count = 1 + whole(random, 3);
  const topology = topologies[seed % topologies.length]!;
  const { gateways } = topology;
  return {
    seed,
    topology,
    faults: Array.from({ length: count }, () => ({
      kind: faultKinds[whole(random, faultKinds.length)] ?? 'cut',
      at: gateways[whole(random, gateways.length)] ?? 'gateway',
      after: whole(random, 12),
      ms: 100 + whole(random, 2000),
    })),
    ends: random.fraction() < 0.5 ? 'at once' : 'afterwards',
  };
}

/** 0 to `below` - 1. */
function whole(random: Random, below: number): number {
  return Math.floor(random.fraction() * below);
}

export function describePlan({ seed, topology, faults, ends }: FaultPlan): string {
  const each = faults.map(({ kind, at, after }) => `${kind} at the ${at} after ${after}`).join(', ');
  return `seed ${seed}, ${topology.name}: ${each}; ends ${ends}`;
}

/** Runs the main job with the plan's faults in it; gives those that were met on the way, and how it ended. */
export async function runWith(
  { faults, ends }: FaultPlan,
  bench: StepBench,
  job: Job,
): Promise<{ readonly met: readonly FaultKind[]; readonly outcome: Outcome }> {
  const met: FaultKind[] = [];
  let revival: Promise<unknown> = Promise.resolve();
  let isOver = false;
  const faultsBeforeTheEnd = async () => {
    for (const fault of faults) {
      if (isOver) return;
      const proxy = bench.proxyBefore(fault.at);
      const hold = proxy.holdAfter(fault.after, async () => {
        if (isOver) return 'pass';
        const struck = strike(fault, bench, job);
        // At once: the race may be over before the fault is.
        revival = revival.then(() => struck).then(({ revive }) => revive?.());
        const { verdict } = await struck;
        if (verdict !== 'missed') met.push(fault.kind);
        return verdict === 'cut' ? 'cut' : 'pass';
      });
      await Promise.race([hold, silence(bench)]);
      // A fault that had nothing to hit may not strike together with the next, or after the last.
      proxy.release();
      await revival;
    }
  };

  job.startBridge();
  await job.bridgeWaits();
  const struck = faultsBeforeTheEnd();
  await job.startSession();
  if (ends === 'afterwards') await struck;
  job.go();
  await job.runEnds();
  isOver = true;
  for (const proxy of bench.proxies) proxy.release();
  await struck;
  const outcome = await job.outcome();
  await job.end();
  return { met, outcome };
}

/** Resolves when nothing has gone by for a while: more will not come. */
async function silence({ proxies }: StepBench): Promise<void> {
  const passed = () => proxies.reduce((sum, { seen }) => sum + seen.length, 0);
  for (let before = -1; before !== passed(); await sleep(3000)) before = passed();
}

interface Strike {
  readonly verdict: 'pass' | 'cut' | 'missed';
  readonly revive?: () => Promise<unknown>;
}

async function strike({ kind, at, ms }: Fault, bench: StepBench, job: Job): Promise<Strike> {
  switch (kind) {
    case 'gateway killed':
      await bench.kill(at);
      return { verdict: 'cut', revive: () => bench.start(at) };
    case 'bridge killed':
      await job.killBridge();
      return {
        verdict: 'cut',
        async revive() {
          job.startBridge();
          await job.bridgeWaits();
        },
      };
    case 'process killed':
      return { verdict: job.killRunningProcess() ? 'pass' : 'missed' };
    case 'cut':
      return { verdict: 'cut' };
    case 'delay':
      await sleep(ms);
      return { verdict: 'pass' };
    case 'stall':
      await sleep(ms);
      return { verdict: 'cut' };
  }
}
