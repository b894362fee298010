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
  /** About what it takes in the store. */
  readonly bytes: number;
}

/**
 * A record on its way to the store: body and attributes are the JSON text that is kept. Text crosses to a store's thread many
 * times as fast as the objects would.
 */
export interface WrittenRecord extends Omit<TelemetryRecord, 'body' | 'attributes'> {
  readonly body: string | null;
  readonly attributes: string;
}

export interface WrittenGroup extends Omit<RecordGroup, 'records'> {
  readonly records: readonly WrittenRecord[];
}

export interface AppendRecords {
  readonly organizationId: string;
  readonly accountId: string;
  readonly receivedAt: number;
  readonly skewMs: number | null;
  readonly groups: readonly WrittenGroup[];
  /** The account's same key after `since` stores nothing again; with another fingerprint it is refused. */
  readonly idempotency:
    { readonly key: string; readonly fingerprint: string; readonly since: number } | undefined;
}

/** An attribute by its key. `exact`: its value is this text; else one that reads so, a number or a boolean too. */
export interface AttributeMatch {
  readonly key: string;
  readonly value: string;
  readonly exact: boolean;
}

/** Which records are meant; what is absent lets all pass. */
export interface RecordFilter {
  readonly organizationId: string;
  readonly accountId?: string | undefined;
  /** Epoch milliseconds, inclusive. */
  readonly fromReceivedAt?: number | undefined;
  /** Epoch milliseconds, exclusive. */
  readonly toReceivedAt?: number | undefined;
  /** Decimal nanoseconds by the sender's clock, inclusive. */
  readonly fromTime?: string | undefined;
  /** Decimal nanoseconds by the sender's clock, exclusive. */
  readonly toTime?: string | undefined;
  readonly serviceName?: string | undefined;
  readonly eventName?: string | undefined;
  readonly traceId?: string | undefined;
  /** At least so severe. */
  readonly minSeverity?: number | undefined;
  /** Of the record or of its resource; all must hold. */
  readonly attributes?: readonly AttributeMatch[] | undefined;
  /** In the body or the value of an attribute, in any case. */
  readonly text?: string | undefined;
}

/** A record's place in the order of listings: when it came, then its id. */
export interface Place {
  readonly receivedAt: number;
  readonly id: number;
}

/** A piece of a walk along the order of listings: `maxScanned` records are looked at, however few of them are meant. */
export interface ScanRecords {
  readonly filter: RecordFilter;
  readonly order: 'newest' | 'oldest';
  /** Goes on behind this one. */
  readonly after?: Place | undefined;
  readonly maxScanned: number;
}

/** `next` is where to go on; `undefined` when nothing is left. */
export interface ScannedRecords {
  readonly records: readonly StoredRecord[];
  readonly next: Place | undefined;
}

/** Records of one bucket of time, severity and service; buckets are counted from the filter's `fromReceivedAt`. */
export interface RecordCount {
  readonly bucket: number;
  readonly severityNumber: number;
  readonly serviceName: string;
  readonly count: number;
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
  /**
   * Appends all records or, where the key was seen, none. Throws `invalid_request` where the key was for others.
   * `storedBytes` is what all records take now.
   */
  appendRecords(
    argument: AppendRecords,
  ): Promise<{ readonly isReplay: boolean; readonly storedBytes: number }>;
  /**
   * Drops the oldest records, at most `limit`: those that came at `receivedUntil` or before, and as many as are over `maxBytes`.
   * `unexported` is how many of them no export has taken; 0 where there is none.
   */
  dropOldest(argument: {
    readonly receivedUntil: number;
    readonly maxBytes: number;
    readonly limit: number;
  }): Promise<{ readonly dropped: number; readonly unexported: number }>;
  /** The export has taken all records up to this id; never goes back. With 0, there is one from now on. */
  advanceExport(argument: { readonly exportedTo: number }): Promise<void>;
  /** Deletes the account's records of that span, and its idempotency keys. */
  deleteAccountRecords(argument: AccountSpan): Promise<{
    readonly deleted: number;
    readonly scannedTo: number | undefined;
  }>;
}

/** Bounded reads; each sees every act that was answered before. */
export interface TelemetryReads {
  /** The account's records of that span, in the order of `id`. */
  accountRecords(argument: AccountSpan): Promise<{
    readonly records: readonly StoredRecord[];
    readonly scannedTo: number | undefined;
  }>;
  /** Stops after `limit` records, or more than `maxBytes` of them; at least one comes if one is there. */
  scanRecords(
    argument: ScanRecords & { readonly limit: number; readonly maxBytes: number },
  ): Promise<ScannedRecords>;
  /** Counts what a piece of the walk finds. */
  countRecords(
    argument: ScanRecords & { readonly bucketMs: number },
  ): Promise<{ readonly counts: readonly RecordCount[]; readonly next: Place | undefined }>;
  /**
   * Records in the order in which they were stored, from the first one behind `after`; without a filter of every
   * organization. `scannedTo` is the last one that was looked at, `after` where there is none.
   */
  recordsAfter(argument: {
    readonly after: number;
    readonly filter?: RecordFilter | undefined;
    readonly maxScanned: number;
    readonly maxBytes: number;
  }): Promise<{ readonly records: readonly StoredRecord[]; readonly scannedTo: number }>;
  /** The last id that was given out, and where the export stands. */
  recordHead(): Promise<{
    readonly lastId: number;
    readonly exportedTo: number;
    readonly records: number;
    readonly bytes: number;
  }>;
}

export type TelemetryStore = TelemetryActs & TelemetryReads;

/** What telemetry asks about an organization; the answer belongs to another area. */
export interface Organizations {
  /** Whether nothing that comes from it may be kept. */
  isZeroDataRetention(organizationId: string): Promise<boolean>;
}
