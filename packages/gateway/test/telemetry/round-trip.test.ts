import type { TelemetryRecord } from '@sallyport/core/contract';
import { encodeLogsRequest, type OtlpRecord } from '@sallyport/telemetry/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { serveTelemetry } from './serve-telemetry.ts';

const text = fc.string({ unit: 'binary', maxLength: 12 });
const digits = (least: bigint, most: bigint) => fc.bigInt({ min: least, max: most }).map(String);
const uint32 = fc.nat({ max: 2 ** 32 - 1 });
const hexId = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .filter((bytes) => bytes.some((byte) => byte > 0))
    .map((bytes) => Buffer.from(bytes).toString('hex'));

/** `-0` is written as 0 by JSON, and what is no number as its name. */
const double = fc.double().map((value) => (Number.isFinite(value) ? value || 0 : String(value)));

type Value = NonNullable<OtlpRecord['body']>;
const { value, pair } = fc.letrec<{ value: Value; pair: { key: string; value: Value } }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ stringValue: text }),
    fc.record({ boolValue: fc.boolean() }),
    fc.record({ intValue: digits(-(2n ** 63n), 2n ** 63n - 1n) }),
    fc.record({ doubleValue: double }),
    fc.record({
      bytesValue: fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString('base64')),
    }),
    fc.constant({}),
    fc.record({ arrayValue: fc.record({ values: fc.array(tie('value'), { maxLength: 3 }) }) }),
    fc.record({ kvlistValue: fc.record({ values: fc.array(tie('pair'), { maxLength: 3 }) }) }),
  ),
  pair: fc.record({ key: fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }), value: tie('value') }),
}));

/** Any record; what has its default may also be left out, which is the same record. */
const record: fc.Arbitrary<OtlpRecord> = fc.record(
  {
    timeUnixNano: digits(1n, 2n ** 64n - 1n),
    observedTimeUnixNano: digits(1n, 2n ** 64n - 1n),
    severityNumber: fc.nat({ max: 24 }),
    severityText: text,
    body: value,
    attributes: fc.array(pair, { maxLength: 4 }),
    droppedAttributesCount: uint32,
    flags: uint32,
    traceId: hexId(16),
    spanId: hexId(8),
    eventName: text,
  },
  { requiredKeys: ['timeUnixNano', 'severityNumber', 'attributes'] },
);

function asShown(sent: OtlpRecord): object {
  const named = sent.attributes?.find(({ key }) => key === 'event.name')?.value?.stringValue;
  const eventName = sent.eventName || named;
  const shown = { ...sent, ...(eventName !== undefined && { eventName }) };
  const { severityText, droppedAttributesCount, flags } = shown;
  if (severityText === '') delete shown.severityText;
  if (droppedAttributesCount === 0) delete shown.droppedAttributesCount;
  if (flags === 0) delete shown.flags;
  if (shown.eventName === '') delete shown.eventName;
  return shown;
}

test('any record that goes in through either encoding, or in a batch, comes out of the query identical', async () => {
  const { url, post } = await serveTelemetry();
  const headers = {
    authorization: 'Bearer access',
    'content-type': 'application/json',
    'x-service-name': 's',
  };
  const comeOut = async (count: number) => {
    const answer = await fetch(`${url}/v1/logs?limit=${count}`, { headers });
    return ((await answer.json()) as TelemetryRecord[]).reverse().map((shown) => shown.record);
  };
  await fc.assert(
    fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 25 }), async (events) => {
      const request = { resourceLogs: [{ scopeLogs: [{ logRecords: events }] }] };
      await post(JSON.stringify(request), { 'content-type': 'application/json' });
      expect(await comeOut(events.length)).toEqual(events.map(asShown));
      await post(encodeLogsRequest(request), { 'content-type': 'application/x-protobuf' });
      expect(await comeOut(events.length)).toEqual(events.map(asShown));
      const body = JSON.stringify({ events });
      await fetch(`${url}/api/event_logging/v2/batch`, { method: 'POST', headers, body });
      expect(await comeOut(events.length)).toEqual(events.map(asShown));
    }),
    { numRuns: 20 },
  );
});
