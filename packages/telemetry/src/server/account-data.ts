import { silentLog, toTimestamp, type AccountData, type Log } from '@sallyport/core';
import { accountsOf } from './block-summary.ts';
import { blocksAtOnce } from './block-walk.ts';
import { bundlesAtOnce, eraseBundles } from './bundle-erasure.ts';
import type { BundleFiles } from './bundle-files.ts';
import { createDamagedBlocks } from './damaged-blocks.ts';
import type { FeedbackBundle, FeedbackStore } from './feedback-ports.ts';
import { createBlockOpener } from './opened-block.ts';
import { createPartRemoval } from './part-removal.ts';
import type { StoredRecord, TelemetryStore } from './ports.ts';
import { createRecordReads } from './record-reads.ts';

/** Records that one act looks through: few enough that nobody waits for it. */
const span = 5000;

/** What telemetry keeps of an account: the records that it sent. Where the log is silent, nothing tells of damaged blocks. */
export function createTelemetryAccountData(store: TelemetryStore, log: Log = silentLog): AccountData {
  const damaged = createDamagedBlocks(log);
  const removeParts = createPartRemoval(store, createBlockOpener(store, damaged));

  async function* records(accountId: string): AsyncIterable<object> {
    for await (const record of createRecordReads(store, damaged).accountRecords(accountId))
      yield shownRecord(record);
  }

  /** Blocks of its own. */
  async function eraseBlocks(accountId: string): Promise<number> {
    let telemetry = 0;
    for (let after = 0; ;) {
      const { deleted, scannedTo } = await store.deleteAccountRecords({ accountId, after, span });
      telemetry += deleted;
      if (scannedTo === undefined) return telemetry;
      after = scannedTo;
    }
  }

  /** What it has in blocks with others, and what becomes one of its own meanwhile, as others go. */
  async function eraseParts(accountId: string): Promise<number> {
    let telemetry = 0;
    for (let after = 0; ;) {
      const heads = await store.blocksAfter({ after, limit: blocksAtOnce });
      for (const head of heads) {
        if (accountsOf(head)?.includes(accountId) !== false) {
          const gone = await removeParts(head, (part) => part.accountId === accountId, { evenDamaged: true });
          if (gone === 'changed') break;
          telemetry += gone.records;
        }
        after = head.lastId;
      }
      if (heads.length < blocksAtOnce && after >= (heads.at(-1)?.lastId ?? 0)) return telemetry;
    }
  }

  return {
    export: (accountId) => ({ telemetry: records(accountId) }),
    async erase(accountId) {
      // In this order: compaction puts blocks together meanwhile, and never takes them apart.
      return { telemetry: (await eraseBlocks(accountId)) + (await eraseParts(accountId)) };
    },
  };
}

/** What feedback keeps of an account: descriptions, and the bundles beside the store. */
export function createFeedbackAccountData(store: FeedbackStore, files: BundleFiles): AccountData {
  async function* bundles(accountId: string): AsyncIterable<object> {
    for (let after = ''; ;) {
      const page = await store.accountBundles({ accountId, after, limit: bundlesAtOnce });
      for (const bundle of page) yield { ...shownBundle(bundle), bundle_path: files.pathOf(bundle.id) };
      after = page.at(-1)?.id ?? after;
      if (page.length < bundlesAtOnce) return;
    }
  }

  return {
    export: (accountId) => ({ feedback: bundles(accountId) }),
    erase: (accountId) =>
      eraseBundles(store, files, (limit) => store.accountBundles({ accountId, after: '', limit })),
  };
}

function shownRecord(record: StoredRecord): object {
  return {
    organization_id: record.organizationId,
    service_name: record.serviceName,
    received_at: toTimestamp(record.receivedAt),
    event_name: record.eventName,
    time_unix_nano: record.timeUnixNano,
    observed_time_unix_nano: record.observedTimeUnixNano,
    severity_number: record.severityNumber,
    severity_text: record.severityText,
    body: record.body,
    attributes: record.attributes,
    trace_id: record.traceId,
    span_id: record.spanId,
    resource: record.resource,
    scope: record.scope,
  };
}

function shownBundle(bundle: FeedbackBundle): object {
  const { id, organizationId, createdAt, description, fileName, bytes, sha256 } = bundle;
  return {
    id,
    organization_id: organizationId,
    created_at: toTimestamp(createdAt),
    description,
    file_name: fileName,
    bytes,
    sha256,
  };
}
