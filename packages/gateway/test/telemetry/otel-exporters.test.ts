import { OTLPLogExporter as JsonExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { expect, test } from 'vitest';
import { serveTelemetry } from './serve-telemetry.ts';

// The exporters of OpenTelemetry JS as they are: what they send is what most applications do.
test.each([
  ['JSON', JsonExporter],
  ['protobuf', ProtobufExporter],
])('the OpenTelemetry exporter for %s', async (_name, Exporter) => {
  const { url, stored } = await serveTelemetry();
  const exporter = new Exporter({ url: `${url}/v1/logs`, headers: { authorization: 'Bearer access' } });
  const provider = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter })] });
  const logger = provider.getLogger('my.library', '1.0.0');
  logger.emit({
    timestamp: new Date(1_700_000_000_123),
    severityText: 'error',
    body: 'It broke: ä€😀',
    eventName: 'tool.failed',
    attributes: {
      text: 'x',
      whole: 9_007_199_254_740_991,
      half: 0.5,
      flag: true,
      list: ['a', 1],
      map: { inner: 'y' },
      bytes: new Uint8Array([0, 255]),
    },
  });
  await provider.forceFlush();
  await provider.shutdown();
  const [record, ...others] = await stored();
  expect(others).toEqual([]);
  expect(record).toMatchObject({
    timeUnixNano: '1700000000123000000',
    severityText: 'error',
    body: { stringValue: 'It broke: ä€😀' },
    eventName: 'tool.failed',
    scope: { name: 'my.library', version: '1.0.0' },
  });
  expect(Object.fromEntries(record!.attributes.map(({ key, value }) => [key, value]))).toEqual({
    text: { stringValue: 'x' },
    whole: { intValue: '9007199254740991' },
    half: { doubleValue: 0.5 },
    flag: { boolValue: true },
    list: { arrayValue: { values: [{ stringValue: 'a' }, { intValue: '1' }] } },
    map: { kvlistValue: { values: [{ key: 'inner', value: { stringValue: 'y' } }] } },
    bytes: { bytesValue: 'AP8=' },
  });
});
