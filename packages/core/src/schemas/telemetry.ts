import { z } from 'zod';

/** OTLP `AnyValue`: one of the members is set. */
export const AnyValue = z.looseObject({
  stringValue: z.exactOptional(z.string()),
  intValue: z.exactOptional(z.union([z.string(), z.number()])),
  doubleValue: z.exactOptional(z.union([z.number(), z.string()])),
  boolValue: z.exactOptional(z.boolean()),
  arrayValue: z.exactOptional(z.looseObject({})),
  kvlistValue: z.exactOptional(z.looseObject({})),
});
export type AnyValue = z.infer<typeof AnyValue>;

export const KeyValue = z.looseObject({ key: z.string().min(1), value: AnyValue });

/** OTLP `LogRecord` in its JSON form; a telemetry event is one. */
export const LogRecord = z.looseObject({
  timeUnixNano: z.exactOptional(z.string().regex(/^\d{1,20}$/)),
  observedTimeUnixNano: z.exactOptional(z.string().regex(/^\d{1,20}$/)),
  severityNumber: z.exactOptional(z.number().int().min(0).max(24)),
  severityText: z.exactOptional(z.string()),
  body: z.exactOptional(AnyValue),
  attributes: z.exactOptional(z.array(KeyValue).max(1024)),
});
export type LogRecord = z.infer<typeof LogRecord>;

/**
 * The events' number is checked before their form: more than `maxEvents` is 413 even if one is malformed. So the row takes
 * any events, and the engine judges each one as a `LogRecord`.
 */
export const EventBatch = z.looseObject({
  events: z.array(z.unknown()).describe('at most 50 OTLP log records'),
});
export type EventBatch = z.infer<typeof EventBatch>;

/**
 * OTLP `ExportLogsServiceRequest` in its JSON form. Unknown fields are taken, and a request without `resourceLogs` is an
 * empty one, as OTLP has it; records are judged one by one by the engine.
 */
export const ExportLogsRequest = z.looseObject({
  resourceLogs: z.exactOptional(z.array(z.unknown())).describe('OTLP ResourceLogs'),
});

export const ExportLogsResponse = z.looseObject({
  partialSuccess: z.exactOptional(
    z.looseObject({
      rejectedLogRecords: z.exactOptional(z.string().describe('an int64')),
      errorMessage: z.exactOptional(z.string()),
    }),
  ),
});
