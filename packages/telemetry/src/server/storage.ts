// The door for storage adapters: the ports, their records, and the judgements that an act calls inside its transaction.
// It is apart from the engine's, so that a writer thread loads no more than that.
export type {
  AppendRecords,
  MergedBlock,
  StoredBlock,
  TelemetryActs,
  TelemetryReads,
  TelemetryStore,
} from './ports.ts';
export { judgeReplay } from './idempotency.ts';
export type { FeedbackActs, FeedbackBundle, FeedbackReads, FeedbackStore } from './feedback-ports.ts';
