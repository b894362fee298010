import type { FieldLine, FieldType } from './line.ts';

/** A value that fits a line's type. */
function fitting({ type, values, most, sample }: FieldLine): unknown {
  if (sample !== undefined || values) return sample ?? values?.[0];
  const samples: Readonly<Record<FieldType, unknown>> = {
    // Digits: a time in nanoseconds is one, too.
    string: '1'.repeat(Math.min(most ?? 20, 20)),
    number: 3600,
    integer: 9,
    boolean: true,
    object: {},
    array: [],
    'array of string': ['one'],
    file: new File(['PK'], 'bundle.zip'),
  };
  return samples[type];
}

/** A value of another type than the line's; for a file, a text. */
export function unfitting({ type }: FieldLine): unknown {
  return type === 'array of string' ? [7] : type === 'string' ? { no: 'text' } : 'no such type';
}

/** A document that has every field of the lines. */
export function sampleOf(lines: readonly FieldLine[]): unknown {
  let document: unknown = lines.some(({ path }) => path.startsWith('[]')) ? [] : {};
  for (const line of lines) document = withValue(document, line.path, fitting(line));
  return document;
}

/** The document with another value at the path, or without it where the value is `undefined`. */
export function withValue(document: unknown, path: string, value: unknown): unknown {
  return put(document, stepsOf(path), value);
}

/** The value at the path. */
export function valueAt(document: unknown, path: string): unknown {
  return stepsOf(path).reduce<unknown>(
    (at, step) => (at as Readonly<Record<string, unknown>> | undefined)?.[step],
    document,
  );
}

/** `a[].b` is `a`, `0`, `b`. */
export function stepsOf(path: string): string[] {
  return path.replaceAll('[]', '.0').split('.').filter(Boolean);
}

function put(document: unknown, [step, ...rest]: readonly string[], value: unknown): unknown {
  if (step === undefined) return value;
  const before = (document ?? (step === '0' ? [] : {})) as Readonly<Record<string, unknown>>;
  const after = put(before[step], rest, value);
  if (Array.isArray(before)) return [after];
  if (after !== undefined) return { ...before, [step]: after };
  return Object.fromEntries(Object.entries(before).filter(([name]) => name !== step));
}
