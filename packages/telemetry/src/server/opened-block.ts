import { createLru } from '@sallyport/core';
import type { StoredAttribute, StoredValue } from './any-value.ts';
import { mayHold } from './block-search.ts';
import { decodeBlock } from './block.ts';
import type { TelemetryRecord } from './log-record.ts';
import type { RecordGroup } from './logs-request.ts';
import type { RecordFilter, StoredBlock, StoredRecord, TelemetryReads } from './ports.ts';

/** A block that was decoded. What it gives is shared, so nobody may change it. */
export interface OpenedBlock {
  /** None where none of them is meant. */
  readonly records: readonly TelemetryRecord[];
  /** Of each record. */
  readonly groups: readonly RecordGroup[];
  /** Of its content. */
  readonly bytes: number;
}

/** Decoded blocks that are kept: pages go on within one, and all who follow want the same ones at once. */
const keptBlocks = 4;
/** Those that are small are many. */
const keptSmall = 128;
const smallBytes = 16 * 1024;

/** Opens a block for those of its records that a filter may mean; gives `undefined` for one that is gone. */
export type BlockOpener = (head: StoredBlock, filter?: RecordFilter) => Promise<OpenedBlock | undefined>;

export function createBlockOpener(store: Pick<TelemetryReads, 'blockContent'>): BlockOpener {
  const large = createLru<OpenedBlock>(keptBlocks);
  const small = createLru<OpenedBlock>(keptSmall);

  return async (head, filter) => {
    const key = String(head.lastId);
    const known = large.get(key) ?? small.get(key);
    if (known) return known;
    const content = await store.blockContent({ lastId: head.lastId });
    if (content === undefined) return undefined;
    if (filter && !mayHold(head.form, content, filter))
      return { records: [], groups: [], bytes: content.byteLength };
    const decoded = decodeBlock(head, content);
    const records = decoded.flatMap((group) => group.records);
    if (records.length !== head.records)
      throw new Error(`Block ${head.lastId} should have ${head.records} records, and has ${records.length}.`);
    const groups = decoded.flatMap((group) => group.records.map(() => group));
    const opened = { records, groups, bytes: content.byteLength };
    (content.byteLength > smallBytes ? large : small).set(key, opened);
    return opened;
  };
}

/** A record as callers get it. */
export function toStoredRecord(head: StoredBlock, block: OpenedBlock, index: number): StoredRecord {
  const record = block.records[index];
  const group = block.groups[index];
  if (!record || !group) throw new RangeError(`Block ${head.lastId} has no record ${index}.`);
  const { serviceName, resource, scope } = group;
  return {
    ...record,
    id: firstId(head) + index,
    organizationId: head.organizationId,
    accountId: head.accountId,
    serviceName,
    resource,
    scope,
    receivedAt: head.receivedAt,
    skewMs: head.skewMs,
    bytes: weigh(record) + weighOrigin(group),
  };
}

export function firstId({ lastId, records }: Pick<StoredBlock, 'lastId' | 'records'>): number {
  return lastId - records + 1;
}

/** Names, braces, times and ids. */
const recordBytes = 300;
const valueBytes = 40;

function weigh({ body, attributes, severityText, eventName }: TelemetryRecord): number {
  const texts = severityText.length + (eventName?.length ?? 0);
  return recordBytes + texts + (body === null ? 0 : weighValue(body)) + weighPairs(attributes);
}

function weighPairs(pairs: readonly StoredAttribute[]): number {
  let sum = 0;
  for (const { key, value } of pairs) sum += key.length + weighValue(value);
  return sum;
}

function weighValue(value: StoredValue): number {
  if ('stringValue' in value) return valueBytes + value.stringValue.length;
  if ('bytesValue' in value) return valueBytes + value.bytesValue.length;
  if ('kvlistValue' in value) return valueBytes + weighPairs(value.kvlistValue.values);
  if (!('arrayValue' in value)) return valueBytes;
  let sum = valueBytes;
  for (const item of value.arrayValue.values) sum += weighValue(item);
  return sum;
}

const origins = new WeakMap<RecordGroup, number>();

function weighOrigin(group: RecordGroup): number {
  let weight = origins.get(group);
  if (weight === undefined) {
    weight = JSON.stringify([group.resource, group.scope]).length;
    origins.set(group, weight);
  }
  return weight;
}
