import { aMoment, parseDuration, parseMoment, type Moment } from '@sallyport/core/duration';
import { InvalidArgumentError, Option } from 'commander';

export function positiveInteger(text: string): number {
  return integer(text, 1);
}

export function naturalNumber(text: string): number {
  return integer(text, 0);
}

/** For what the service bounds: a larger number is refused here, where the option can be named. */
export function integerBetween(least: number, most: number): (text: string) => number {
  return (text) => integer(text, least, most);
}

function integer(text: string, least: number, most = Infinity): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
  const wanted = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`;
  throw new InvalidArgumentError(`a number ${wanted} is needed`);
}

/** A time such as `90`, `90s`, `5m`, `1h30m` or `30d`, in milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
  if (ms === undefined) throw new InvalidArgumentError('a time such as 90s, 5m, 1h30m or 30d is needed');
  return ms;
}

/** When something was. */
export function moment(text: string): Moment {
  const parsed = parseMoment(text);
  if (parsed === undefined) throw new InvalidArgumentError(`${aMoment} is needed`);
  return parsed;
}

/** What names an environment, or `tag:NAME`. */
export function environmentChoice(text: string): string {
  if (/^tag:\s*$/.test(text)) throw new InvalidArgumentError('tag:NAME needs a name');
  return text;
}

/** Who started something: an e-mail address, or `me`. */
export function starter(text: string): string {
  if (text !== 'me' && !address.test(text))
    throw new InvalidArgumentError('an e-mail address is needed, or `me`');
  return text;
}

/** Whose something is: an e-mail address, an account's id, or `me`. */
export function account(text: string): string {
  if (text !== 'me' && !address.test(text) && !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text))
    throw new InvalidArgumentError("an e-mail address is needed, an account's id, or `me`");
  return text;
}

const address = /^[^\s@]+@[^\s@]+$/;

/** For an option that may be repeated. */
export function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value];
}

/** An option of which one of `values` is chosen at a time; `a,b` is both, and it may be repeated. */
export function choices(flags: string, description: string, values: readonly string[]): Option {
  const parse = (text: string, previous: readonly string[]): readonly string[] => {
    const given = text.split(',').map((value) => value.trim());
    if (!given.every((value) => values.includes(value)))
      throw new InvalidArgumentError(`Allowed choices are ${values.join(', ')}.`);
    return [...new Set([...previous, ...given])];
  };
  return new Option(flags, `${description}; may be repeated`).choices(values).default([]).argParser(parse);
}

/** Names of subprotocols (RFC 6455 4.1), each once. */
export function subprotocols(value: string, previous: readonly string[]): readonly string[] {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(value)) throw new InvalidArgumentError('one name is needed');
  if (previous.includes(value)) throw new InvalidArgumentError('it is named twice');
  return [...previous, value];
}
