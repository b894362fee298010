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

const secondsIn: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 };

/** `90m`, `12h`, `30d`, in seconds. */
export function duration(text: string): number {
  const [, count, unit = ''] = /^([1-9]\d{0,6})([mhd])$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError('a time such as 90m, 12h or 30d is needed');
  return Number(count) * (secondsIn[unit] ?? 0);
}

/** For an option that may be repeated. */
export function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value];
}
