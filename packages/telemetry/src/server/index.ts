export { createFeedbackAccountData, createTelemetryAccountData } from './account-data.ts';
export { createFeedbackOrganizationData, createTelemetryOrganizationData } from './organization-data.ts';
export { createDamagedBlocks, type DamagedBlocks } from './damaged-blocks.ts';
export {
  createTelemetryEngine,
  defaultTelemetryConfig,
  type Delivery,
  type Sender,
  type TelemetryConfig,
  type TelemetryEngine,
  type TelemetryEngineOptions,
  type TelemetryEngineStats,
} from './engine.ts';
export type { Organizations, Place, RecordFilter, StoredRecord, TelemetryStore } from './ports.ts';
export type { Records, RecordsCaller } from './records.ts';
export { judgeBatch } from './batch.ts';
export { halveRecords, type HalfOfRecords } from './halving.ts';
export { decodeLogs, type LogsBody } from './logs-body.ts';
export {
  grpcCodeOf,
  logsAnswerJson,
  logsAnswerProtobuf,
  statusProtobuf,
  type LogsAnswer,
  type OtlpEncoding,
} from './otlp-answer.ts';
export { createBundleFiles, type BundleFiles, type IncomingBundle } from './bundle-files.ts';
export {
  createFeedbackEngine,
  type BundleReceipt,
  type FeedbackEngine,
  type FeedbackEngineOptions,
} from './feedback.ts';
export type { FeedbackBundle, FeedbackStore } from './feedback-ports.ts';
export { createExporter, type Exporter, type ExporterOptions, type ExportStats } from './export/exporter.ts';
export { createExportRequest, type ExportConfig } from './export/export-request.ts';
