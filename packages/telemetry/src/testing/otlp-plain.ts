import type { LogsRequest, OtlpKeyValue, OtlpRecord, OtlpValue } from './otlp-encoder.ts';
import { drawsOf } from './otlp-random.ts';

type Draw = ReturnType<typeof drawsOf>;

/** A logs request with records, as ordinary exporters send them; of one seed always the same. */
export function plainLogsRequest(seed: number): LogsRequest {
  const draw = drawsOf(seed);
  const records = () => listOf(1 + draw(4), () => record(draw));
  const scopeLogs = () => ({
    ...(draw(2) === 0 && { scope: { name: word(draw), version: '1.0', attributes: pairs(draw, 1) } }),
    ...(draw(4) === 0 && { schemaUrl: 'https://opentelemetry.io/schemas/1.30.0' }),
    logRecords: records(),
  });
  return {
    resourceLogs: listOf(1 + draw(2), () => ({
      ...(draw(3) > 0 && {
        resource: {
          attributes: [...pairs(draw, 2), { key: 'service.name', value: { stringValue: word(draw) } }],
          droppedAttributesCount: draw(3),
        },
      }),
      scopeLogs: listOf(1 + draw(2), scopeLogs),
    })),
  };
}

/** The request as JSON: with or without space, and with members of a record in any order. */
export function writeJson(request: LogsRequest, seed: number): Buffer<ArrayBuffer> {
  const draw = drawsOf(seed);
  const shuffled = structuredClone(request);
  for (const { scopeLogs } of shuffled.resourceLogs)
    for (const of of scopeLogs)
      of.logRecords = of.logRecords.map((item) => {
        const members = Object.entries(item);
        return Object.fromEntries(draw(2) === 0 ? members : members.reverse());
      });
  return Buffer.from(JSON.stringify(shuffled, null, [0, 2, '\t', '\r\n'][draw(4)]));
}

function record(draw: Draw): OtlpRecord {
  const time = () => String(1_767_225_600_000_000_000n + BigInt(draw(2 ** 31)) * 1_000_003n);
  return {
    ...(draw(4) > 0 && { timeUnixNano: time() }),
    ...(draw(2) === 0 && { observedTimeUnixNano: time() }),
    severityNumber: draw(25),
    severityText: word(draw),
    ...(draw(4) > 0 && { body: value(draw, 2) }),
    attributes: [
      ...pairs(draw, 2),
      ...(draw(3) === 0 ? [{ key: 'event.name', value: value(draw, 0) }] : []),
      ...(draw(3) === 0 ? [{ key: 'event.name', value: { stringValue: 'second' } }] : []),
    ],
    droppedAttributesCount: draw(2),
    flags: draw(2),
    ...(draw(2) === 0 && { traceId: id(draw, 16), spanId: id(draw, 8) }),
    ...(draw(3) === 0 && { eventName: draw(4) === 0 ? '' : word(draw) }),
  };
}

function value(draw: Draw, depth: number): OtlpValue {
  const kinds: readonly (() => OtlpValue)[] = [
    () => ({}),
    () => ({ stringValue: word(draw) }),
    () => ({ boolValue: draw(2) === 1 }),
    () => ({ intValue: String(draw(2 ** 31) - 2 ** 30) }),
    () => ({ doubleValue: (draw(2 ** 31) - 2 ** 30) / [1, 3, 1e9][draw(3)]! }),
    () => ({ bytesValue: Buffer.from(word(draw)).toString('base64') }),
    () => ({ arrayValue: { values: listOf(draw(3), () => value(draw, depth - 1)) } }),
    () => ({ kvlistValue: { values: pairs(draw, depth - 1) } }),
  ];
  return kinds[draw(depth > 0 ? kinds.length : kinds.length - 2)]!();
}

function pairs(draw: Draw, depth: number): OtlpKeyValue[] {
  return listOf(draw(3), () => ({ key: `k.${word(draw)}`, value: value(draw, depth) }));
}

function id(draw: Draw, bytes: number): string {
  return draw(4) === 0 ? '' : Buffer.from(listOf(bytes, () => draw(256))).toString('hex');
}

const words = ['', 'tool.called', 'tool.failed', 'two words', 'für 日志', '😀', '0'];

function word(draw: Draw): string {
  return words[draw(words.length)]!;
}

function listOf<T>(length: number, make: () => T): T[] {
  return Array.from({ length }, make);
}
