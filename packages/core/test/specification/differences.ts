import { isOptional, mediaTypes, type Credential, type Endpoint } from '../../src/contract/index.ts';
import type { z } from 'zod';
import type { CredentialLine, FieldLine, HeaderLine, SpecificationLine } from './line.ts';
import { sampleOf, stepsOf, unfitting, valueAt, withValue } from './sample.ts';

const credentials: Readonly<Record<CredentialLine, Credential>> = {
  none: 'none',
  'session key': 'session_key',
  'access token': 'access_token',
  'worker jwt': 'ingress',
};

/** In what a row differs from its line, a sentence each; nothing where it says the same. */
export function differences(line: SpecificationLine, row: Endpoint): string[] {
  return [
    ...(row.auth === credentials[line.credential] ? [] : [`credential is ${row.auth}`]),
    ...headerDifferences(line, row),
    ...(same(Object.keys(row.params?.shape ?? {}), line.params) ? [] : ['path parameters']),
    ...requestDifferences('query', line.query, row.query),
    ...bodyDifferences(line, row),
    ...responseDifferences(line, row),
    ...(line.errors === 'no line' || same(row.errors, line.errors)
      ? []
      : [`errors are ${row.errors.join()}`]),
  ];
}

function headerDifferences(line: SpecificationLine, row: Endpoint): string[] {
  const beta = line.headers.find(({ name }) => name === 'vendor-beta')?.value;
  const content = line.headers.find(({ name }) => name === 'content-type');
  const others = line.headers.filter(({ name }) => name !== 'vendor-beta' && name !== 'content-type');
  const shape: Readonly<Record<string, z.ZodType>> = row.headers?.shape ?? {};
  const extra = Object.entries(shape)
    .filter(([name, schema]) => !isOptional(schema) && !others.some((one) => one.name === name))
    .map(([name]) => `header ${name} is demanded`);
  return [
    ...(row.beta === beta ? [] : [`beta is ${String(row.beta)}`]),
    ...(content === undefined || takesType(row, content.value) ? [] : ['content-type is not asked for']),
    ...others.flatMap((header) => headerDifference(header, shape[header.name])),
    ...extra,
  ];
}

function headerDifference({ name, value, presence }: HeaderLine, schema: z.ZodType | undefined): string[] {
  if (!schema) return [`header ${name} is not known`];
  if (presence === 'stated' && isOptional(schema)) return [`header ${name} may be missing`];
  if (!schema.safeParse(value).success) return [`header ${name} does not take ${value}`];
  const takesAll = value.startsWith('<') || !schema.safeParse('another value').success;
  return takesAll ? [] : [`header ${name} takes any value`];
}

function takesType(row: Endpoint, type: string): boolean {
  if (row.body === undefined) return false;
  return (row.encodings ?? ['json']).some((encoding) => mediaTypes[encoding].includes(type));
}

function bodyDifferences({ body }: SpecificationLine, row: Endpoint): string[] {
  if (body === 'none') return row.body === undefined ? [] : ['a body is taken'];
  if (body === 'empty object' || body === 'not shown') {
    const takes = row.body?.safeParse({}).success ?? body === 'not shown';
    return takes ? [] : ['no empty object is taken'];
  }
  if (Array.isArray(body)) return requestDifferences('body', body as readonly FieldLine[], row.body);
  return Object.entries(body as Readonly<Record<string, readonly FieldLine[]>>).flatMap(([grant, fields]) =>
    requestDifferences(grant, fields, row.body),
  );
}

/** Judged by what the schema takes and refuses, not by how it is written. */
export function requestDifferences(
  what: string,
  lines: readonly FieldLine[],
  schema: z.ZodType | undefined,
): string[] {
  if (!schema) return lines.length === 0 ? [] : [`${what} is not known`];
  const sample = sampleOf(lines);
  const whole = schema.safeParse(sample);
  const found = whole.success ? [] : [`${what}: the whole is refused for ${whole.error.message}`];
  const open: string[] = [];
  for (const line of lines) {
    if (open.some((path) => line.path.startsWith(path))) continue;
    const say = (difference: string) => found.push(`${what} ${line.path} ${difference}`);
    const refuses = (value: unknown) => complains(schema, withValue(sample, line.path, value), line.path);
    if (!refuses(unfitting(line))) say(`is no ${line.type}`);
    if (line.type === 'integer' && !(refuses('1.5') && refuses(1.5))) say('takes fractions');
    if (line.presence === 'stated' && !refuses(undefined)) say('may be missing');
    if (line.presence === 'optional' && refuses(undefined)) say('is demanded');
    if (line.values && !refuses('another value')) say('takes any value');
    if (line.most !== undefined && !refuses(tooMuch(line, line.most, valueAt(sample, line.path))))
      say('has no limit');
    if (hasItems(line, lines) && !refuses(['no such item'])) {
      say('takes any items');
      open.push(`${line.path}[]`);
    }
    if (typeof line.default === 'string') {
      const filled = schema.safeParse(withValue(sample, line.path, undefined)).data;
      if (valueAt(filled, line.path) !== line.default) say('has another default');
    }
  }
  return found;
}

function hasItems({ path }: FieldLine, lines: readonly FieldLine[]): boolean {
  return lines.some((line) => line.path.startsWith(`${path}[]`));
}

function tooMuch({ type }: FieldLine, most: number, value: unknown): unknown {
  if (type === 'string') return 'x'.repeat(most + 1);
  return Array.from({ length: most + 1 }, () => (value as readonly unknown[])[0]);
}

function responseDifferences(line: SpecificationLine, row: Endpoint): string[] {
  const statuses = Object.keys(row.responses).map(Number);
  const expected = line.success.length > 0 ? line.success : [line.response === 'stream' ? 101 : 200];
  const found = same(statuses, expected) ? [] : [`success is ${statuses.join()}`];
  if (line.response === 'stream') return row.transport === 'websocket' ? found : [...found, 'no WebSocket'];
  if ((line.response === 'plain text') !== (row.transport === 'text')) found.push('plain text');
  const schema = Object.values(row.responses).find((one) => one !== null);
  if (typeof line.response === 'string') return found;
  if (!schema) return [...found, 'no response'];
  const sample = sampleOf(line.response);
  for (const field of line.response) {
    const says = (value: unknown) => complains(schema, withValue(sample, field.path, value), field.path);
    const say = (difference: string) => found.push(`response ${field.path} ${difference}`);
    if (!says(unfitting(field))) say(`is no ${field.type}`);
    if (!says(undefined)) say('may be missing');
    for (const value of field.values ?? [valueAt(sample, field.path)]) if (says(value)) say('is refused');
    if (field.values && !says('another value')) say('takes any value');
  }
  return found;
}

/** Whether the schema finds fault with what is at the path, or inside it. */
function complains(schema: z.ZodType, document: unknown, path: string): boolean {
  const at = stepsOf(path).join('.');
  const { error } = schema.safeParse(document);
  return error?.issues.some((issue) => `${issue.path.join('.')}.`.startsWith(`${at}.`)) ?? false;
}

function same<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((member) => other.includes(member));
}
