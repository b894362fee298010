import { afterAll, beforeAll, vi } from 'vitest';
import type { Topology } from '../topologies.ts';
import { StepBench } from './bench.ts';
import { shortTerms } from './short-terms.ts';

/** One bench for each test of a suite that runs at the same time: the jobs wait more than they work. */
export function benchPool(topology: Topology): StepBench[] {
  const maxConcurrency = 8;
  vi.setConfig({ maxConcurrency });
  const benches: StepBench[] = [];
  beforeAll(async () => {
    const opening = Array.from({ length: maxConcurrency }, () => new StepBench(shortTerms, topology).open());
    benches.push(...(await Promise.all(opening)));
  }, 60_000);
  afterAll(async () => {
    await Promise.all(benches.map((bench) => bench[Symbol.asyncDispose]()));
  });
  return benches;
}
