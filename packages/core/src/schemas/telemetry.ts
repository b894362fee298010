import { z } from 'zod';
import { severities, type SeverityName } from '../severities.ts';
import { Email } from './admin.ts';
import { IdempotencyKey, integerParam, Timestamp, Uuid } from './common.ts';

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

/** When a request was sent by its sender's own clock: epoch milliseconds, or an RFC 3339 date. Another text counts as none. */
const SentAt = z.exactOptional(z.string()).describe("the sender's clock: epoch milliseconds, or RFC 3339");

export const EventBatchHeaders = z.object({
  'x-service-name': z.string().min(1),
  'idempotency-key': IdempotencyKey,
  'x-sent-at': SentAt,
});

export const ExportLogsHeaders = z.object({ 'idempotency-key': IdempotencyKey, 'x-sent-at': SentAt });

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

const when = z.iso.datetime({ offset: true });

/** `key=value`: a text, number or boolean that reads so; in double quotes, a text alone. */
const AttributeFilter = z
  .string()
  .max(1024)
  .regex(/^[^=]+=/s, 'must be key=value');

/** Which records are meant. Times are those at which they came, unless they begin with `event_`: the sender's own. */
const recordFilters = {
  from: z.exactOptional(when).describe('inclusive'),
  to: z.exactOptional(when).describe('exclusive'),
  event_from: z.exactOptional(when).describe("by the sender's clock, inclusive"),
  event_to: z.exactOptional(when).describe("by the sender's clock, exclusive"),
  min_severity: z
    .exactOptional(
      z.union([z.enum(Object.keys(severities) as [SeverityName]), integerParam(0, 24)], {
        error: `must be ${Object.keys(severities).join(', ')} or a number from 0 to 24`,
      }),
    )
    .describe('trace, debug, info, warn, error, fatal, or a number of OTLP'),
  account_id: z.exactOptional(Uuid.min(1)).describe('only those that this account sent'),
  account_email: z
    .exactOptional(Email)
    .describe('only those that the account with this address sent; of both, what fits both'),
  service: z.exactOptional(z.string().min(1).max(256)),
  event_name: z.exactOptional(z.string().min(1).max(256)),
  trace_id: z.exactOptional(z.string().regex(/^[0-9a-fA-F]{32}$/, 'must be 16 bytes in hex')),
  attribute: z
    .exactOptional(
      z.union([AttributeFilter, z.array(AttributeFilter).max(8)], {
        error: 'must be at most 8, each key=value',
      }),
    )
    .describe('key=value of the record or its resource; may be repeated, and then all must hold'),
  text: z.exactOptional(z.string().min(1).max(256)).describe('in the body or an attribute, in any case'),
};

export const RecordsQuery = z.object({
  ...recordFilters,
  order: z.exactOptional(z.enum(['newest', 'oldest'])).describe('which come first; default newest'),
  limit: z.exactOptional(integerParam(1, Number.MAX_SAFE_INTEGER)),
  offset: z.exactOptional(z.string()),
});

export const TailQuery = z.object({
  ...recordFilters,
  from_id: z
    .exactOptional(integerParam(0, Number.MAX_SAFE_INTEGER))
    .describe('begins after this record; by default with what comes from now on'),
});

export const StatsQuery = z.object({
  ...recordFilters,
  buckets: z.exactOptional(integerParam(1, 240)).describe('parts of the time asked for; default 60'),
});

const Origin = z.looseObject({ attributes: z.array(KeyValue) });

/** A record as it was stored: OTLP's own forms, and beside them when and from whom it came. */
export const TelemetryRecord = z.looseObject({
  id: z.number().int().describe('rises with every record that is stored'),
  received_at: Timestamp,
  account_id: z.string(),
  account_email: z.exactOptional(z.string().nullable()).describe('null once the account is there no more'),
  service_name: z.string(),
  skew_ms: z.exactOptional(z.number()).describe("how far ahead the sender's clock was, where it said so"),
  record: LogRecord,
  resource: z.exactOptional(Origin),
  scope: z.exactOptional(Origin),
});
export type TelemetryRecord = z.infer<typeof TelemetryRecord>;

export const TelemetryStats = z.looseObject({
  from: Timestamp,
  to: Timestamp,
  bucket_ms: z.number().int(),
  total: z.number().int(),
  complete: z.boolean().describe('false: too many to count; only the newest of the time asked for were'),
  buckets: z.array(z.looseObject({ at: Timestamp, count: z.number().int(), errors: z.number().int() })),
  severities: z.array(z.looseObject({ severity: z.string(), count: z.number().int() })),
  services: z.array(z.looseObject({ service: z.string(), count: z.number().int() })),
});
export type TelemetryStats = z.infer<typeof TelemetryStats>;
