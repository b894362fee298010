import { didYouMean } from '@sallyport/core';
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

/** A time span; fractions are allowed. `zero`: 0 has a meaning of its own. */
export function seconds(fallback: number, { zero = false } = {}): Leaf<number> {
  const span = zero ? z.number().nonnegative() : z.number().positive();
  return z
    .preprocess(textToNumber, span.default(fallback))
    .describe(zero ? 'a number of seconds, 0 or more' : 'a number of seconds above 0');
}

export function flag(fallback: boolean): Leaf<boolean> {
  return z.preprocess(textToFlag, z.boolean().default(fallback)).describe('true or false');
}

export function optionalFlag(): Leaf<boolean | undefined> {
  return z.preprocess(textToFlag, z.boolean().optional()).describe('true or false');
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

export function optionalOneOf<const T extends readonly [string, ...string[]]>(
  choices: T,
): Leaf<T[number] | undefined> {
  return z.preprocess(emptyToAbsent, z.enum(choices).optional()).describe(`one of ${choices.join(', ')}`);
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
  const record = z
    .record(z.string(), z.number().int().min(0))
    .refine((value) => Object.keys(value).every((name) => names.includes(name)));
  return z
    .preprocess(parseJson, record.default(fallback))
    .describe(`an object with whole numbers, 0 or more, under ${names.slice(0, 3).join(', ')} and the like`);
}

/** A leaf that has no default, where there must be a value. */
export function required<T>(leaf: Leaf<T | undefined>): Leaf<T> {
  return leaf.refine((value) => value !== undefined).describe(leaf.description ?? '');
}

type Members = Readonly<Record<string, z.ZodType>>;
type Group<M extends Members> = { readonly [K in keyof M]: z.output<M[K]> };
type Refuse = (path: string[], message: string) => void;

/**
 * Groups of settings by name, or for each the value of `short` alone: JSON as text. What is wrong is told of the setting
 * within, and not of all of them.
 */
export function groupsByName<M extends Members>(
  members: M,
  { names, short }: { readonly names: readonly string[]; readonly short: keyof M },
): Leaf<Readonly<Record<string, Group<M>>>> {
  const long = (value: unknown) => (typeof value === 'string' ? { [short]: value } : value);
  const group = z.preprocess(long, z.record(z.string(), z.unknown()));
  const groups = z.record(z.string(), group).default({});
  return z.preprocess(parseJson, groups).transform((given, context) => {
    const refuse: Refuse = (path, message) => context.addIssue({ code: 'custom', path, message });
    refuseOthers(given, names, refuse);
    return Object.fromEntries(
      Object.entries(given).map(([name, values]) => {
        const refuseIn: Refuse = (path, message) => refuse([name, ...path], message);
        refuseOthers(values, Object.keys(members), refuseIn);
        return [name, groupOf(members, values, refuseIn)];
      }),
    );
  });
}

function groupOf<M extends Members>(
  members: M,
  values: Readonly<Record<string, unknown>>,
  refuse: Refuse,
): Group<M> {
  const read = Object.entries(members).map(([key, leaf]) => {
    const parsed = leaf.safeParse(values[key]);
    if (!parsed.success) refuse([key], `must be ${leaf.description ?? 'something else'}.`);
    return [key, parsed.data];
  });
  return Object.fromEntries(read) as Group<M>;
}

function refuseOthers(given: object, names: readonly string[], refuse: Refuse): void {
  for (const name of Object.keys(given).filter((one) => !names.includes(one)))
    refuse([name], `is not a setting. ${didYouMean(name, names) ?? `There are ${names.join(', ')}.`}`);
}

function parseJson(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

function emptyToAbsent(value: unknown): unknown {
  return value === '' ? undefined : value;
}

function textToNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,15}(\.\d+)?$/.test(value) ? Number(value) : value;
}

function textToFlag(value: unknown): unknown {
  return value === 'true' ? true : value === 'false' ? false : value;
}

function isHttpUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  const { search, hash, username, password } = url;
  return search + hash + username + password === '';
}
