import { context, type HrTime } from '@opentelemetry/api';
import { ExportResultCode, suppressTracing, type ExportResult } from '@opentelemetry/core';
import type { LogRecordExporter, ReadableLogRecord } from '@opentelemetry/sdk-logs';
import type { Transport } from '@sallyport/core/client';
import { TelemetryBatcher } from '../client/batcher.ts';
import type { TelemetryEvent } from '../client/event.ts';
import type { TelemetryBatcherOptions } from '../client/options.ts';

/**
 * Sends the log records of the OpenTelemetry SDK here. It takes every record at once, and queues, spools and retries as a
 * `TelemetryBatcher` does: `SimpleLogRecordProcessor` suffices, a batching one would only hold records twice.
 *
 * @example
 * const exporter = new SallyportLogRecordExporter({ baseUrl, transport, tokens, serviceName: 'shop', serviceVersion: '1.0.0' });
 * const provider = new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] });
 */
export class SallyportLogRecordExporter implements LogRecordExporter {
  readonly batcher: TelemetryBatcher;

  constructor(options: TelemetryBatcherOptions) {
    this.batcher = new TelemetryBatcher({ ...options, transport: untraced(options.transport) });
  }

  export(records: ReadableLogRecord[], done: (result: ExportResult) => void): void {
    for (const record of records) this.batcher.emit(toEvent(record));
    done({ code: ExportResultCode.SUCCESS });
  }

  async forceFlush(): Promise<void> {
    await this.batcher.flush();
  }

  async shutdown(): Promise<void> {
    await this.batcher.shutdown();
  }
}

/** An OpenTelemetry log record as an event. Resource and scope become attributes: a batch has no place of its own for them. */
function toEvent(record: ReadableLogRecord): TelemetryEvent {
  const { eventName, body, severityNumber = 0, severityText, spanContext, instrumentationScope } = record;
  return {
    name: eventName ?? 'log',
    severityNumber,
    ...(severityText !== undefined && { severityText }),
    ...(body !== undefined && { body }),
    attributes: {
      ...record.resource.attributes,
      'otel.scope.name': instrumentationScope.name,
      'otel.scope.version': instrumentationScope.version,
      ...record.attributes,
    },
    timeUnixNano: toUnixNano(record.hrTime),
    observedTimeUnixNano: toUnixNano(record.hrTimeObserved),
    droppedAttributesCount: record.droppedAttributesCount,
    ...(spanContext && {
      trace: { traceId: spanContext.traceId, spanId: spanContext.spanId, flags: spanContext.traceFlags },
    }),
  };
}

function toUnixNano([seconds, nanos]: HrTime): string {
  return `${seconds}${String(nanos).padStart(9, '0')}`;
}

/** Its own requests make no spans, which would make requests. */
function untraced(transport: Transport): Transport {
  return {
    ...transport,
    send: (request) => context.with(suppressTracing(context.active()), () => transport.send(request)),
    close: () => transport.close(),
  };
}
