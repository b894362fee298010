import type { TelemetryRecord } from './log-record.ts';
import type { RecordResource, RecordScope } from './logs-request.ts';

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
  /** About how long it is as JSON, with what it is of: what bounds a page. */
  readonly bytes: number;
}

/**
 * What the content of a block is: a logs request of that encoding as it came, records of one in a form of their own, or those of
 * several requests.
 */
export type BlockForm = 'json' | 'protobuf' | 'groups' | 'merged';

/** Records that are written, and read, at once. To a store, the content is bytes and the summary a text. */
export interface WrittenBlock {
  readonly form: BlockForm;
  /** How many; at least one. */
  readonly records: number;
  /** What they are, for readers who seek; see block-tally.ts. */
  readonly summary: string;
  readonly content: Uint8Array;
}

/** What records of one request have in common. Their ids are those up to `lastId`, one after the other. */
export interface BlockPart {
  readonly lastId: number;
  readonly records: number;
  readonly accountId: string;
  readonly receivedAt: number;
  readonly skewMs: number | null;
}

/**
 * A block without its content. One that was merged tells of its last part; between its records ids may be missing, but no
 * other block has one from there.
 */
export interface StoredBlock extends Omit<BlockPart, 'accountId'> {
  readonly organizationId: string;
  /** `null`: its parts have their own. */
  readonly accountId: string | null;
  readonly form: BlockForm;
  /** `null`: nobody knows what they are. */
  readonly summary: string | null;
}

/** What takes the place of blocks: all or some of their records, of one organization. */
export interface MergedBlock
  extends WrittenBlock, Pick<StoredBlock, 'lastId' | 'organizationId' | 'accountId' | 'receivedAt'> {}

/** Neighbours, in the order of their ids, and what they become. */
export interface ReplaceBlocks {
  readonly blocks: readonly StoredBlock[];
  readonly by: MergedBlock | undefined;
}

export interface AppendRecords {
  readonly organizationId: string;
  readonly accountId: string;
  readonly receivedAt: number;
  readonly skewMs: number | null;
  readonly blocks: readonly WrittenBlock[];
  readonly idempotency: Idempotency | undefined;
}

/** The account's same key after `since` stores nothing again; with another fingerprint it is refused. */
export interface Idempotency {
  readonly key: string;
  readonly fingerprint: string;
  /** Epoch milliseconds. */
  readonly since: number;
  /** Of all accounts: beyond, the oldest ones are forgotten, a few with each that comes. */
  readonly maxKeys: number;
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

/** Blocks strictly between two places, a block's place being that of its last record. */
export interface ListBlocks {
  readonly organizationId: string;
  readonly order: 'newest' | 'oldest';
  readonly from: Place;
  readonly to: Place;
  readonly limit: number;
}

/** Records of one bucket of time, severity and service; buckets are counted from the filter's `fromReceivedAt`. */
export interface RecordCount {
  readonly bucket: number;
  readonly severityNumber: number;
  readonly serviceName: string;
  readonly count: number;
}

/**
 * The next blocks behind an id, whosesoever, of which those of an account are meant: as many as have about `span` records,
 * those of others counting as one each. `scannedTo` is where the next span begins; `undefined` after the last. There is no
 * index of accounts: every block would pay for it.
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
   * `storedBytes` is what all blocks take now.
   */
  appendRecords(
    argument: AppendRecords,
  ): Promise<{ readonly isReplay: boolean; readonly storedBytes: number }>;
  /**
   * Drops the oldest blocks, about `limit` records of them: those that came at `receivedUntil` or before, and as many as are
   * over `maxBytes`. `dropped` records went, `unexported` of which no export has taken, 0 where there is none;
   * in a merged block that the export is in the middle of, what was erased from it before may count, too.
   */
  dropOldest(argument: {
    readonly receivedUntil: number;
    readonly maxBytes: number;
    readonly limit: number;
  }): Promise<{ readonly dropped: number; readonly unexported: number; readonly isDone: boolean }>;
  /** The export has taken all records up to this id; never goes back. With 0, there is one from now on. */
  advanceExport(argument: { readonly exportedTo: number }): Promise<void>;
  /** Deletes the account's blocks of that span, and its idempotency keys; a block of several accounts is left as it is. */
  deleteAccountRecords(argument: AccountSpan): Promise<{
    readonly deleted: number;
    readonly scannedTo: number | undefined;
  }>;
  /** Deletes about `limit` records of the organization, the oldest first; with the last of them, its idempotency keys. */
  deleteOrganizationRecords(argument: { readonly organizationId: string; readonly limit: number }): Promise<{
    readonly deleted: number;
    readonly isDone: boolean;
  }>;
  /**
   * Puts one block in the place of others. Nothing is done where they are no longer as they were, or where another one lies
   * between them, in the order of ids or of listings. `exportedTo` is `null` where there is no export.
   */
  replaceBlocks(
    argument: ReplaceBlocks,
  ): Promise<{ readonly isDone: boolean; readonly exportedTo: number | null }>;
}

/** Bounded reads; each sees every act that was answered before. What the records are, only `createRecordReads` knows. */
export interface TelemetryReads {
  listBlocks(argument: ListBlocks): Promise<readonly StoredBlock[]>;
  /** In the order of ids, those whose last record is behind `after`; of every organization. */
  blocksAfter(argument: { readonly after: number; readonly limit: number }): Promise<readonly StoredBlock[]>;
  /** `undefined`: it is gone meanwhile, or in another one. `null`: it is damaged. */
  blockContent(argument: Pick<StoredBlock, 'lastId' | 'records'>): Promise<Uint8Array | null | undefined>;
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
