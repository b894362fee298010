const unitsMs = { w: 7 * 86_400_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000 } as const;

/** A span such as `90s`, `1h30m` or `2w`, largest unit first, in milliseconds; `undefined`: none, or of no length. */
export function parseDuration(text: string): number | undefined {
  const [, ...counts] =
    /^(?:(\d{1,7})w)?(?:(\d{1,7})d)?(?:(\d{1,7})h)?(?:(\d{1,7})m)?(?:(\d{1,7})s)?$/.exec(text) ?? [];
  const ms = Object.values(unitsMs).reduce((sum, unit, at) => sum + Number(counts[at] ?? 0) * unit, 0);
  return ms > 0 ? ms : undefined;
}

/** A time, or one by the time that it is `now`; in epoch milliseconds. */
export type Moment = (now: number) => number;

/** A span before now, or a time: an RFC 3339 one, or a date; either without a zone of here. */
export function parseMoment(text: string): Moment | undefined {
  const span = parseDuration(text);
  if (span !== undefined) return (now) => Math.max(0, now - span);
  const at = Date.parse(/^\d{4}-/.test(text) ? text : '');
  return Number.isNaN(at) ? undefined : () => at;
}

/** What `parseMoment` takes, in words. */
export const aMoment = 'a span such as 15m, 2h or 7d, or a time such as 2026-01-31T12:00Z';
