import { AsyncLocalStorage } from 'node:async_hooks';
import { ROOT_CONTEXT, SeverityNumber, TraceFlags, context, trace, type Context } from '@opentelemetry/api';
import { isTracingSuppressed } from '@opentelemetry/core';
import { BatchLogRecordProcessor, LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { undiciTransport, type Transport } from '@sallyport/core/client';
import { LogRecord } from '@sallyport/core/contract';
import { expect, onTestFinished, test } from 'vitest';
import { attributeOf, startSink } from '../../test/sink.ts';
import { SallyportLogRecordExporter } from './exporter.ts';

function makeExporter(baseUrl: string, transport: Transport = undiciTransport()) {
  onTestFinished(() => transport.close());
  return new SallyportLogRecordExporter({
    baseUrl,
    transport,
    tokens: { token: () => Promise.resolve('token') },
    serviceName: 'shop',
    serviceVersion: '1.0.0',
    env: {},
    installExitHandlers: false,
  });
}

test('a record of the SDK arrives with its time, severity, body, attributes and span', async () => {
  const sink = await startSink();
  const exporter = makeExporter(sink.baseUrl);
  const provider = new LoggerProvider({
    processors: [new SimpleLogRecordProcessor({ exporter })],
    logRecordLimits: { attributeCountLimit: 2 },
  });
  const span = {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    traceFlags: TraceFlags.SAMPLED,
  };
  provider.getLogger('cart', '2.0.0').emit({
    eventName: 'cart.opened',
    timestamp: [1_700_000_000, 123_456_789],
    observedTimestamp: [1_700_000_001, 1],
    severityNumber: SeverityNumber.WARN,
    severityText: 'WARN',
    body: { items: [1, 'two'], password: 'hunter2' },
    attributes: { 'user.kind': 'new', 'api.key': 'sk-hunter2', 'one.too': 'many' },
    context: trace.setSpanContext(context.active(), span),
  });
  await provider.shutdown();

  const [event] = sink.requests[0]!.events;
  expect(LogRecord.safeParse(event).error).toBeUndefined();
  expect(event).toMatchObject({
    timeUnixNano: '1700000000123456789',
    observedTimeUnixNano: '1700000001000000001',
    droppedAttributesCount: 1,
    severityNumber: 13,
    severityText: 'WARN',
    body: {
      kvlistValue: {
        values: [
          { key: 'items', value: { arrayValue: { values: [{ intValue: '1' }, { stringValue: 'two' }] } } },
          { key: 'password', value: { stringValue: '[redacted]' } },
        ],
      },
    },
    traceId: span.traceId,
    spanId: span.spanId,
    flags: 1,
  });
  const attributes = [
    'event.name',
    'service.name',
    'otel.scope.name',
    'otel.scope.version',
    'user.kind',
    'telemetry.sdk.language',
  ];
  expect(attributes.map((name) => attributeOf(event!, name))).toEqual([
    'cart.opened',
    'shop',
    'cart',
    '2.0.0',
    'new',
    'nodejs',
  ]);
  expect(sink.requests[0]!.text).not.toContain('hunter2');
});

test('every record of a batching processor arrives once, at the force of a flush', async () => {
  const sink = await startSink();
  const exporter = makeExporter(sink.baseUrl);
  const provider = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter })] });
  const logger = provider.getLogger('many');
  for (let index = 0; index < 700; index += 1) logger.emit({ body: `line ${index}` });
  await provider.forceFlush();
  await exporter.forceFlush();
  const bodies = sink.requests.flatMap(({ events }) => events.map(({ body }) => body?.stringValue));
  expect(bodies).toEqual(Array.from({ length: 700 }, (_, index) => `line ${index}`));
  await provider.shutdown();
  expect(exporter.batcher.stats()).toMatchObject({ waiting: 0, sent: 700, dropped: {} });
});

test('its own requests are traced by nobody, or each would make a span, and that a record', async () => {
  const storage = new AsyncLocalStorage<Context>();
  const manager: Parameters<typeof context.setGlobalContextManager>[0] = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, act, self, ...args) => storage.run(active, () => act.call(self, ...args)),
    bind: (_, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  context.setGlobalContextManager(manager);
  onTestFinished(() => context.disable());
  const sink = await startSink();
  const real = undiciTransport();
  const suppressed: boolean[] = [];
  const exporter = makeExporter(sink.baseUrl, {
    close: () => real.close(),
    send(request) {
      suppressed.push(isTracingSuppressed(context.active()));
      return real.send(request);
    },
  });
  const provider = new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] });
  provider.getLogger('cart').emit({ body: 'opened' });
  await provider.shutdown();
  expect(suppressed).toEqual([true]);
  expect(isTracingSuppressed(context.active())).toBe(false);
});
