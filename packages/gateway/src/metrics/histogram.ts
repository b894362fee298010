/** Upper bounds in seconds: from what a proxy may add to what a model may take. */
export const bounds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
] as const;

/** How long things took. Plain numbers, because one is told of every request. */
export class Histogram {
  /** By bound, not cumulative; the last one is for what is above all bounds. */
  readonly buckets: number[] = new Array<number>(bounds.length + 1).fill(0);
  sum = 0;
  count = 0;

  observe(seconds: number): void {
    let at = 0;
    while (at < bounds.length && seconds > (bounds[at] ?? Infinity)) at++;
    this.buckets[at] = (this.buckets[at] ?? 0) + 1;
    this.sum += seconds;
    this.count++;
  }
}
