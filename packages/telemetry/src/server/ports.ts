import type { TelemetryRecord } from './log-record.ts';
import type { RecordGroup, RecordResource, RecordScope } from './logs-request.ts';

/** A record with the place that it came from. */
export interface StoredRecord extends TelemetryRecord {
  readonly id: number;
  readonly organizationId: string;
  readonly accountId: string;
  readonly serviceName: string;
  readonly resource: RecordResource | null;
  readonly scope: RecordScope | null;
  /** Epoch milliseconds by the service's clock, however wrong the sender's is. */
  readonly receivedAt: number;
  /** How far ahead of the service's the sender's clock was, where it said so and they are minutes apart. */
  readonly skewMs: number | null;
}

export interface AppendRecords {
  readonly organizationId: string;
  readonly accountId: string;
  readonly receivedAt: number;
  readonly skewMs: number | null;
  readonly groups: readonly RecordGroup[];
  /** The account's same key after `since` stores nothing again; with another fingerprint it is refused. */
  readonly idempotency:
    { readonly key: string; readonly fingerprint: string; readonly since: number } | undefined;
}

export interface RecordQuery {
  readonly organizationId: string;
  /** Epoch milliseconds, inclusive. */
  readonly fromReceivedAt?: number;
  /** Epoch milliseconds, exclusive. */
  readonly toReceivedAt?: number;
  readonly serviceName?: string;
  readonly eventName?: string;
  /** At least so severe. */
  readonly minSeverity?: number;
  /** Goes on after this record. */
  readonly after?: { readonly receivedAt: number; readonly id: number };
  readonly limit: number;
}

/**
 * The next `span` records after an id, whosesoever, of which those of an account are meant. `scannedTo` is where the next
 * span begins; `undefined` after the last. There is no index of accounts: every record would pay for it.
 */
export interface AccountSpan {
  readonly accountId: string;
  readonly after: number;
  readonly span: number;
}

/** The atomic acts of telemetry: one transaction each, durable before they answer. */
export interface TelemetryActs {
  /** Appends all records or, where the key was seen, none. Throws `invalid_request` where the key was for others. */
  appendRecords(argument: AppendRecords): Promise<{ readonly isReplay: boolean }>;
  /** Deletes the account's records of that span, and its idempotency keys. */
  deleteAccountRecords(argument: AccountSpan): Promise<{
    readonly deleted: number;
    readonly scannedTo: number | undefined;
  }>;
}

/** Bounded reads; each sees every act that was answered before. */
export interface TelemetryReads {
  /** In the order of `receivedAt`, then `id`. */
  queryRecords(argument: RecordQuery): Promise<readonly StoredRecord[]>;
  /** The account's records of that span, in the order of `id`. */
  accountRecords(argument: AccountSpan): Promise<{
    readonly records: readonly StoredRecord[];
    readonly scannedTo: number | undefined;
  }>;
}

export type TelemetryStore = TelemetryActs & TelemetryReads;

/** What telemetry asks about an organization; the answer belongs to another area. */
export interface Organizations {
  /** Whether nothing that comes from it may be kept. */
  isZeroDataRetention(organizationId: string): Promise<boolean>;
}
