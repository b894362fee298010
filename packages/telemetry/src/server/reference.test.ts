import fc from 'fast-check';
import { expect, test } from 'vitest';
import { referenceDecode, referenceEncode } from '../../test/reference.ts';
import { randomLogsRequest } from '../testing/otlp-random.ts';
import { encodeLogs } from './export/logs-encoder.ts';
import { decodeLogs } from './logs-body.ts';
import { decodeLogsRequest } from './otlp-protobuf.ts';

const receivedAt = 1_700_000_000_123;

/** OTLP's JSON has ids in hex, where protobuf's own mapping has base64. */
function withIds(form: unknown, to: 'hex' | 'base64'): unknown {
  const from = to === 'hex' ? 'base64' : 'hex';
  if (Array.isArray(form)) return form.map((item) => withIds(item, to));
  if (typeof form !== 'object' || form === null) return form;
  return Object.fromEntries(
    Object.entries(form).map(([key, value]) => [
      key,
      key === 'traceId' || key === 'spanId'
        ? Buffer.from(String(value), from).toString(to)
        : withIds(value, to),
    ]),
  );
}

/** What has its default is the same as what is left out, but for a member of a oneof. */
function withoutDefaults(form: unknown): unknown {
  if (Array.isArray(form)) return form.map(withoutDefaults);
  if (typeof form !== 'object' || form === null) return form;
  const oneof = 'stringValue' in form || 'intValue' in form || 'doubleValue' in form || 'bytesValue' in form;
  return Object.fromEntries(
    Object.entries(form)
      .map(([key, value]) => [key, withoutDefaults(value)] as const)
      .filter(([, value]) => {
        if (value === undefined) return false;
        return oneof || !['', 0, '0'].includes(value as string);
      })
      .filter(([, value]) => !(Array.isArray(value) && value.length === 0)),
  );
}

test('what the reference encodes is decoded as the reference does', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const bytes = referenceEncode(withIds(randomLogsRequest(seed), 'base64') as object);
      const reference = withIds(referenceDecode(bytes), 'hex');
      expect(withoutDefaults(decodeLogsRequest(bytes))).toEqual(withoutDefaults(reference));
    }),
    { numRuns: 300 },
  );
});

test('what is encoded here, the reference decodes to what was meant', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const bytes = Buffer.from(JSON.stringify(randomLogsRequest(seed)));
      const { groups } = decodeLogs({ encoding: 'json', bytes }, receivedAt);
      const encoded = encodeLogs(groups, 'protobuf');
      const meant = JSON.parse(encodeLogs(groups, 'json').toString()) as unknown;
      expect(withoutDefaults(withIds(referenceDecode(encoded), 'hex'))).toEqual(withoutDefaults(meant));
      // And here it is read as the same records again, from either encoding.
      expect(decodeLogs({ encoding: 'protobuf', bytes: encoded }, receivedAt).groups).toEqual(groups);
    }),
    { numRuns: 300 },
  );
});
