import { InvalidArgumentError } from 'commander';

export function positiveInteger(text: string): number {
  return integer(text, 1);
}

export function naturalNumber(text: string): number {
  return integer(text, 0);
}

function integer(text: string, least: number): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < least) {
    throw new InvalidArgumentError(`a number of at least ${least} is needed`);
  }
  return Number(text);
}

const unitsMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time such as `90`, `90s`, `5m`, `1h30m` or `30d`, in milliseconds. */
export function duration(text: string): number {
  const parts = [...text.matchAll(/(\d{1,7})([smhd]?)/g)];
  const ms = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (unitsMs[unit || 's'] ?? 0), 0);
  if (ms <= 0 || !/^(\d+|(\d+d)?(\d+h)?(\d+m)?(\d+s)?)$/.test(text))
    throw new InvalidArgumentError('a time such as 90s, 5m, 1h30m or 30d is needed');
  return ms;
}

/** For an option that may be repeated. */
export function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value];
}
