import type { Judging } from './judging.ts';

/** `safe`: canonical digits of this length are in the range, whatever they are. */
interface Range {
  readonly min: bigint;
  readonly max: bigint;
  readonly safe: number;
}

export const int64: Range = { min: -(2n ** 63n), max: 2n ** 63n - 1n, safe: 18 };
export const uint64: Range = { min: 0n, max: 2n ** 64n - 1n, safe: 19 };
const uint32: Range = { min: 0n, max: 2n ** 32n - 1n, safe: 9 };

/** Decimal digits of an integer that came as text or number; exact, or an issue of `member`. */
export function judgeInteger(
  value: unknown,
  range: Range,
  judging: Judging,
  member: string,
): string | undefined {
  // Nearly all of them: BigInt is many times as slow.
  if (typeof value === 'string' && areDigits(value, range.safe)) return value;
  const exact = toBigInt(value);
  if (exact === undefined)
    return judging.complain('must be a whole number, as text beyond 2^53', 'malformed', member);
  if (exact >= range.min && exact <= range.max) return String(exact);
  return judging.complain('is out of range', 'malformed', member);
}

/** A uint32 or fixed32, such as a count; absent, by protobuf's JSON mapping, is 0. */
export function judgeUint32(value: unknown, judging: Judging, member: string): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number' && value >>> 0 === value) return value >>> 0; // no -0
  return Number(judgeInteger(value, uint32, judging, member) ?? 0);
}

/** Up to so many digits, without a sign, and as a number is written: no zeros before it. */
function areDigits(text: string, most: number): boolean {
  const { length } = text;
  if (length === 0 || length > most) return false;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x30 || code > 0x39) return false;
  }
  return length === 1 || text.charCodeAt(0) !== 0x30;
}

/** A JSON number beyond 2^53 has already lost digits when it comes here: taking it would store another one. */
function toBigInt(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== 'string' || value.length > 64) return undefined;
  if (/^-?\d{1,20}$/.test(value)) return BigInt(value);
  // `1e3` and `3.0` are whole numbers, too (protobuf's JSON mapping).
  const [, sign, whole = '', part = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/.exec(value) ?? [];
  if (sign === undefined) return undefined;
  const digits = (whole + part).replace(/^0+/, '');
  const point = digits.length - part.length + Number(power);
  if (digits === '') return 0n;
  if (point > 20 || /[1-9]/.test(digits.slice(Math.max(0, point)))) return undefined;
  return BigInt(sign + digits.slice(0, point).padEnd(point, '0'));
}
