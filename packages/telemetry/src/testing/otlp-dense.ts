import type { LogsBody } from '../server/logs-body.ts';
import { bytes } from './otlp-encoder.ts';

/** Where there may be many messages: in JSON `%` is where, in protobuf the last field is what, and those before lead there. */
const places = {
  resourceLogs: ['{"resourceLogs":[{"scopeLogs":[{"logRecords":[{}]}]},%]}', [1]],
  scopeLogs: ['{"resourceLogs":[{"scopeLogs":[{"logRecords":[{}]},%]}]}', [1, 2]],
  logRecords: ['{"resourceLogs":[{"scopeLogs":[{"logRecords":[{},%]}]}]}', [1, 2, 2]],
  attributes: ['{"resourceLogs":[{"scopeLogs":[{"logRecords":[{},{"attributes":[%]}]}]}]}', [1, 2, 2, 6]],
  values: [
    '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{},{"body":{"arrayValue":{"values":[%]}}}]}]}]}',
    [1, 2, 2, 5, 5, 1],
  ],
} as const satisfies Readonly<Record<string, readonly [string, readonly number[]]>>;

export const densePlaces = Object.keys(places) as (keyof typeof places)[];

/** A logs request of a record and, in one place of it, `count` messages that are empty: next to nothing in bytes. */
export function denseRequest(
  encoding: 'json' | 'protobuf',
  place: keyof typeof places,
  count: number,
): LogsBody {
  const [json, fields] = places[place];
  if (encoding === 'json')
    return { encoding, bytes: Buffer.from(json.replace('%', '{},'.repeat(count).slice(0, -1))) };
  const empty = bytes(fields.at(-1) ?? 0, Buffer.alloc(0));
  const many = Buffer.alloc(empty.length * count, empty);
  const within = fields.slice(0, -1).reduceRight((inner, field) => bytes(field, inner), many);
  return { encoding, bytes: Buffer.concat([bytes(1, bytes(2, bytes(2, Buffer.alloc(0)))), within]) };
}
