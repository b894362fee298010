export {
  createTelemetryEngine,
  defaultTelemetryConfig,
  type Sender,
  type TelemetryConfig,
  type TelemetryEngine,
  type TelemetryEngineOptions,
  type TelemetryEngineStats,
} from './engine.ts';
export type { Organizations, RecordQuery, StoredRecord, TelemetryStore } from './ports.ts';
