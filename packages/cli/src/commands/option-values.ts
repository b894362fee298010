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

/** For an option that may be repeated. */
export function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value];
}
