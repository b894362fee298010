// The door for storage adapters: the ports, their records, and the judgements that an act calls inside its transaction.
// It is apart from the engine's, so that a writer thread loads no more than that.
export type {
  AppendRecords,
  Place,
  RecordCount,
  RecordFilter,
  ScanRecords,
  StoredRecord,
  TelemetryActs,
  TelemetryReads,
  TelemetryStore,
} from './ports.ts';
export { hasContent } from './record-filter.ts';
export { judgeReplay } from './idempotency.ts';
export type { StoredAttribute, StoredValue } from './any-value.ts';
export type { TelemetryRecord } from './log-record.ts';
export type { RecordGroup, RecordResource, RecordScope } from './logs-request.ts';
export type { FeedbackActs, FeedbackBundle, FeedbackReads, FeedbackStore } from './feedback-ports.ts';
