import { seededRandom } from '@sallyport/core/testing';
import type {
  LogsRequest,
  OtlpKeyValue,
  OtlpRecord,
  OtlpResource,
  OtlpScope,
  OtlpValue,
} from './otlp-encoder.ts';

/** A logs request that breaks no rule, in the form of OTLP's JSON; of one seed always the same. */
export function randomLogsRequest(seed: number): LogsRequest {
  const draw = drawsOf(seed);
  return {
    resourceLogs: several(draw, 2, () => ({
      ...maybe(draw, 'resource', () => resource(draw)),
      ...maybe(draw, 'schemaUrl', () => text(draw)),
      scopeLogs: several(draw, 2, () => ({
        ...maybe(draw, 'scope', () => scope(draw)),
        ...maybe(draw, 'schemaUrl', () => text(draw)),
        logRecords: several(draw, 3, () => record(draw)),
      })),
    })),
  };
}

/** A whole number from 0 to `below`, exclusive. */
type Draw = (below: number) => number;

export function drawsOf(seed: number): Draw {
  const random = seededRandom(seed);
  return (below) => Math.floor(random.fraction() * below);
}

function record(draw: Draw): OtlpRecord {
  return {
    ...maybe(draw, 'timeUnixNano', () => String(bits64(draw))),
    ...maybe(draw, 'observedTimeUnixNano', () => String(bits64(draw))),
    ...maybe(draw, 'severityNumber', () => draw(25)),
    ...maybe(draw, 'severityText', () => text(draw)),
    ...maybe(draw, 'body', () => value(draw, 4)),
    ...maybe(draw, 'attributes', () => pairs(draw, 4)),
    ...maybe(draw, 'droppedAttributesCount', () => draw(2 ** 32)),
    ...maybe(draw, 'flags', () => draw(2 ** 32)),
    ...maybe(draw, 'traceId', () => hex(draw, 16)),
    ...maybe(draw, 'spanId', () => hex(draw, 8)),
    ...maybe(draw, 'eventName', () => text(draw)),
  };
}

function resource(draw: Draw): OtlpResource {
  return {
    ...maybe(draw, 'attributes', () => pairs(draw, 3)),
    ...maybe(draw, 'droppedAttributesCount', () => draw(2 ** 32)),
  };
}

function scope(draw: Draw): OtlpScope {
  return {
    ...maybe(draw, 'name', () => text(draw)),
    ...maybe(draw, 'version', () => text(draw)),
    ...resource(draw),
  };
}

function value(draw: Draw, depth: number): OtlpValue {
  const kinds: readonly (() => OtlpValue)[] = [
    () => ({}),
    () => ({ stringValue: text(draw) }),
    () => ({ boolValue: draw(2) === 1 }),
    () => ({ intValue: String(BigInt.asIntN(64, bits64(draw))) }),
    () => ({ doubleValue: double(draw) }),
    () => ({ bytesValue: Buffer.from(several(draw, 8, () => draw(256))).toString('base64') }),
    () => ({ arrayValue: { values: several(draw, 3, () => value(draw, depth - 1)) } }),
    () => ({ kvlistValue: { values: pairs(draw, depth - 1) } }),
  ];
  return (kinds[draw(depth > 0 ? kinds.length : kinds.length - 2)] ?? (() => ({})))();
}

function pairs(draw: Draw, depth: number): OtlpKeyValue[] {
  return several(draw, 3, () => ({
    key: `k${text(draw)}`,
    ...maybe(draw, 'value', () => value(draw, depth)),
  }));
}

/** Any bits: small and large numbers, those that are none, and the ends of the range. */
function double(draw: Draw): number | string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(bits64(draw));
  const chosen = [bytes.readDoubleLE(), draw(1000), -0, NaN, Infinity, -Infinity, 2 ** 53][draw(7)] ?? 0;
  return Number.isFinite(chosen) ? chosen : String(chosen);
}

function bits64(draw: Draw): bigint {
  const ends = [0n, 1n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n];
  return ends[draw(ends.length * 2)] ?? (BigInt(draw(2 ** 32)) << 32n) | BigInt(draw(2 ** 32));
}

function hex(draw: Draw, bytes: number): string {
  return draw(3) === 0 ? '' : Buffer.from(Array.from({ length: bytes }, () => draw(256))).toString('hex');
}

const signs = [
  'a',
  'Z',
  '"',
  '\\',
  '\0',
  '\n',
  'ä',
  '€',
  '😀',
  '\u2028',
  '\ufeff',
  '\ufffd',
  '1e9',
  ':12345678901234567',
];

function text(draw: Draw): string {
  return several(draw, 6, () => signs[draw(signs.length)] ?? '').join('');
}

function several<T>(draw: Draw, most: number, make: () => T): T[] {
  return Array.from({ length: draw(most + 1) }, make);
}

function maybe<K extends string, V>(draw: Draw, key: K, make: () => V): { readonly [P in K]?: V } {
  return draw(3) === 0 ? {} : ({ [key]: make() } as { readonly [P in K]?: V });
}
