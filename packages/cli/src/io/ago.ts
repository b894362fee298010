const units = [
  { ms: 86_400_000, one: 'day', many: 'days' },
  { ms: 3_600_000, one: 'h', many: 'h' },
  { ms: 60_000, one: 'min', many: 'min' },
] as const;

/** How long ago a timestamp of the service was, for a person: `just now`, `3 min ago`, and a date after a month. */
export function ago(timestamp: string, now: number): string {
  const passedMs = now - Date.parse(timestamp);
  if (passedMs > 30 * 86_400_000) return timestamp.slice(0, 10);
  for (const { ms, one, many } of units) {
    const count = Math.floor(passedMs / ms);
    if (count >= 1) return `${count} ${count === 1 ? one : many} ago`;
  }
  // Less than a minute, or the service's clock runs ahead of this one.
  return 'just now';
}
