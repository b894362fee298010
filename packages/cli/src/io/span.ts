/** A span of time in words: `90 s`, `10 min`. */
export function span(ms: number, round: (minutes: number) => number = Math.round): string {
  return ms < 120_000 ? `${Math.ceil(ms / 1000)} s` : `${round(ms / 60_000)} min`;
}
