import { z } from 'zod';

/**
 * Settings come typed from a file and as text from flags and the environment: a leaf takes both forms. Its description
 * is what an error says is allowed ("must be ...").
 */
type Leaf<T> = z.ZodType<T>;

export function text(fallback: string, allowed: string, pattern = /^[^\0]+$/): Leaf<string> {
  return z.string().regex(pattern).default(fallback).describe(allowed);
}

export function optionalText(allowed: string, pattern = /^[^\0]+$/): Leaf<string | undefined> {
  return z.preprocess(emptyToAbsent, z.string().regex(pattern).optional()).describe(allowed);
}

export function integer(fallback: number, min: number, max = Number.MAX_SAFE_INTEGER): Leaf<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`;
  return z
    .preprocess(textToNumber, z.number().int().min(min).max(max).default(fallback))
    .describe(`a whole number, ${range}`);
}

/** Seconds or another measure; fractions are allowed. */
export function measure(fallback: number): Leaf<number> {
  return z
    .preprocess(textToNumber, z.number().nonnegative().default(fallback))
    .describe('a number, 0 or more');
}

export function flag(fallback: boolean): Leaf<boolean> {
  const fromText = (value: unknown) => (value === 'true' ? true : value === 'false' ? false : value);
  return z.preprocess(fromText, z.boolean().default(fallback)).describe('true or false');
}

export function oneOf<const T extends readonly [string, ...string[]]>(
  choices: T,
  fallback: T[number],
): Leaf<T[number]> {
  return z
    .enum(choices)
    .default(fallback as never)
    .describe(`one of ${choices.join(', ')}`);
}

export function httpUrl(): Leaf<string | undefined> {
  return z
    .preprocess(
      (value) => (typeof value === 'string' ? value.replace(/\/+$/, '') || undefined : value),
      z.string().refine(isHttpUrl).optional(),
    )
    .describe('an absolute http or https address without query, such as https://sallyport.example');
}

/** A list: comma-separated as text. */
export function list(allowed: string, pattern = /^\S+$/): Leaf<readonly string[]> {
  const split = (value: unknown) =>
    typeof value === 'string' ? value.split(',').flatMap((item) => item.trim() || []) : value;
  return z.preprocess(split, z.array(z.string().regex(pattern)).default([])).describe(allowed);
}

/** Whole numbers by name: JSON as text. */
export function integersByName(fallback: Readonly<Record<string, number>>, names: readonly string[]) {
  const parse = (value: unknown) => {
    if (typeof value !== 'string') return value;
    try {
      return JSON.parse(value) as unknown;
    } catch {
      return value;
    }
  };
  const record = z
    .record(z.string(), z.number().int().min(0))
    .refine((value) => Object.keys(value).every((name) => names.includes(name)));
  return z
    .preprocess(parse, record.default(fallback))
    .describe(`an object with whole numbers, 0 or more, under ${names.slice(0, 3).join(', ')} and the like`);
}

function emptyToAbsent(value: unknown): unknown {
  return value === '' ? undefined : value;
}

function textToNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,15}(\.\d+)?$/.test(value) ? Number(value) : value;
}

function isHttpUrl(value: string): boolean {
  const url = URL.parse(value);
  return (
    url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '' && !url.username
  );
}
