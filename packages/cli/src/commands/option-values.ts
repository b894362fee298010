import { InvalidArgumentError } from 'commander';
import { parseDuration } from './duration.ts';

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

/** A time such as `90`, `90s`, `5m`, `1h30m` or `30d`, in milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
  if (ms === undefined) throw new InvalidArgumentError('a time such as 90s, 5m, 1h30m or 30d is needed');
  return ms;
}

/** An environment's id, or `tag:NAME`. */
export function environmentChoice(text: string): string {
  if (/^tag:\s*$/.test(text)) throw new InvalidArgumentError('tag:NAME needs a name');
  return text;
}

/** For an option that may be repeated. */
export function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value];
}
