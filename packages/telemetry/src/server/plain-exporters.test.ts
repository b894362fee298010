import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SeverityNumber } from '@opentelemetry/api';
import { OTLPLogExporter as JsonExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { expect, test } from 'vitest';
import { decodeLogs } from './logs-body.ts';
import { judgePlainRequest } from './plain-request.ts';

// What is judged in its bytes is worth it only if real exporters write it so.
test.each([
  ['json', JsonExporter],
  ['protobuf', ProtobufExporter],
] as const)('what the OpenTelemetry exporter sends in %s is plain', async (encoding, Exporter) => {
  const bodies: Buffer[] = [];
  await using server = createServer((request, response) => {
    void buffer(request).then(
      (body) => {
        bodies.push(body);
        response.end();
      },
      () => undefined, // whoever asked hung up amid it
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const exporter = new Exporter({ url: `http://127.0.0.1:${port}/v1/logs` });
  const provider = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter })] });
  const logger = provider.getLogger('my.library', '1.0.0');
  for (let each = 0; each < 50; each++)
    logger.emit({
      severityNumber: SeverityNumber.INFO,
      severityText: 'info',
      body: `It went: "ä€😀"\n${each}`,
      eventName: 'tool.called',
      attributes: {
        'session.id': 'one',
        'event.name': 'tool.called',
        whole: 123_456_789_012_345,
        half: 0.5,
        flag: true,
        list: ['a', 1],
        map: { inner: 'y' },
        bytes: new Uint8Array([0, 255]),
      },
    });
  await provider.forceFlush();
  await provider.shutdown();
  expect(bodies).toHaveLength(1);
  const body = { encoding, bytes: bodies[0] as Buffer };
  expect(judgePlainRequest(body, 0)?.records).toBe(50);
  expect(decodeLogs(body, 0).accepted).toBe(50);
});
