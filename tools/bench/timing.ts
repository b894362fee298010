/** Milliseconds, in order. */
export type Sample = readonly number[];

export function quantile(sample: Sample, share: number): number {
  const ordered = [...sample].sort((a, b) => a - b);
  return ordered[Math.min(ordered.length - 1, Math.floor(ordered.length * share))] ?? NaN;
}

export function median(sample: Sample): number {
  return quantile(sample, 0.5);
}

export interface Way {
  readonly name: string;
  /** Does it once; gives what it took, in milliseconds. */
  readonly once: () => Promise<number>;
}

/** Ways side by side: one of each a round, so that what disturbs the machine disturbs them alike. The first round is not counted. */
export async function sideBySide(ways: readonly Way[], rounds: number): Promise<readonly Sample[]> {
  const samples: number[][] = ways.map(() => []);
  for (let round = 0; round <= rounds; round++)
    for (const [index, way] of ways.entries()) {
      const ms = await way.once();
      if (round > 0) samples[index]?.push(ms);
    }
  return samples;
}

/** A Markdown table: each way's median and 90th percentile, and what its median is beside the first way's. */
export function printTable(ways: readonly Way[], samples: readonly Sample[]): void {
  const first = median(samples[0] ?? []);
  console.log('| Way | Median ms | p90 ms | Less the first | Ratio |');
  console.log('|---|---|---|---|---|');
  for (const [index, { name }] of ways.entries()) {
    const sample = samples[index] ?? [];
    const mid = median(sample);
    const cells = [mid, quantile(sample, 0.9), mid - first].map((ms) => ms.toFixed(1));
    console.log(`| ${[name, ...cells, (mid / first).toFixed(2)].join(' | ')} |`);
  }
}
