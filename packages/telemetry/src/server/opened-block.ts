import { createLru } from '@sallyport/core';
import type { StoredAttribute, StoredValue } from './any-value.ts';
import { mayHold } from './block-search.ts';
import { checksumOf, firstPlace } from './block-summary.ts';
import { decodeBlock } from './block.ts';
import type { DamagedBlocks } from './damaged-blocks.ts';
import type { TelemetryRecord } from './log-record.ts';
import type { RecordGroup } from './logs-request.ts';
import { firstIdOf, type Part } from './merged-block.ts';
import type { BlockPart, RecordFilter, StoredBlock, StoredRecord, TelemetryReads } from './ports.ts';
import { isMeant } from './record-filter.ts';
import { createTurns } from './turns.ts';

/** A block that was decoded. What it gives is shared, so nobody may change it. */
export interface OpenedBlock {
  /** None where none of them is meant, or where the block is damaged. */
  readonly records: readonly TelemetryRecord[];
  /** Of each record. */
  readonly groups: readonly RecordGroup[];
  /** Of each record. */
  readonly parts: readonly BlockPart[];
  /** Of each record. */
  readonly ids: readonly number[];
  /** Of its content. */
  readonly bytes: number;
}

/** Decoded blocks that are kept: pages go on within one, and all who follow want the same ones at once. */
const keptBlocks = 4;
/** Those that are small are many. */
const keptSmall = 128;
const smallBytes = 16 * 1024;

/** What is decoded without a pause: some milliseconds of the event loop, whatever the records in it are. */
const bytesAtOnce = 64 * 1024;

/**
 * Opens a block for those of its records that a filter may mean; gives `undefined` for one that is gone, or in another one: who
 * reads has to ask again which there are.
 */
export type BlockOpener = (head: StoredBlock, filter?: RecordFilter) => Promise<OpenedBlock | undefined>;

export function createBlockOpener(
  store: Pick<TelemetryReads, 'blockContent'>,
  damaged: Pick<DamagedBlocks, 'note'>,
): BlockOpener {
  const large = createLru<OpenedBlock>(keptBlocks);
  const small = createLru<OpenedBlock>(keptSmall);
  const turn = createTurns();
  let bytesOfTurn = 0;

  return async (head, filter) => {
    // A block of the same last record may have had fewer before it: records only ever go from between two that stay.
    const key = `${firstPlace(head).id} ${head.lastId} ${head.records}`;
    const known = () => large.get(key) ?? small.get(key);
    const opened = known();
    if (opened) return opened;
    const content = await store.blockContent(head);
    if (content === undefined) return undefined;
    const bytes = content?.byteLength ?? 0;
    if (bytesOfTurn >= bytesAtOnce) {
      await turn();
      bytesOfTurn = 0;
    }
    const meanwhile = known();
    if (meanwhile) return meanwhile;
    bytesOfTurn += bytes;
    try {
      const decoded = openContent(head, content, filter);
      if (decoded) (bytes > smallBytes ? large : small).set(key, decoded);
      return decoded ?? { ...nothing, bytes };
    } catch (error) {
      damaged.note(head, error);
      return { ...nothing, bytes };
    }
  };
}

const nothing = { records: [], groups: [], parts: [], ids: [] };

/** `undefined`: none of its records is meant. Throws where the content is damaged. */
function openContent(
  head: StoredBlock,
  content: Uint8Array | null,
  filter: RecordFilter | undefined,
): OpenedBlock | undefined {
  const checksum = content ? checksumOf(head.summary, content) : 'wrong';
  if (content === null || checksum === 'wrong')
    throw new Error('The content is not the one that was written.');
  if (filter && !mayHold(head.form, content, filter)) return undefined;
  const decoded = decodeBlock(head, content);
  const records = decoded.groups.flatMap((group) => group.records);
  const ids = decoded.parts.flatMap((part) =>
    Array.from({ length: part.records }, (_, index) => firstIdOf(part) + index),
  );
  if (records.length !== head.records || ids.length !== head.records)
    throw new Error(`It should have ${head.records} records, and has ${records.length}.`);
  // What is wrong with one shows here, and not where a reader already has the others.
  if (checksum === 'unknown') records.forEach(weigh);
  return {
    records,
    groups: decoded.groups.flatMap((group) => group.records.map(() => group)),
    parts: decoded.parts.flatMap((part) => new Array<BlockPart>(part.records).fill(part)),
    ids,
    bytes: content.byteLength,
  };
}

/** A record as callers get it. */
export function toStoredRecord(head: StoredBlock, block: OpenedBlock, index: number): StoredRecord {
  const [record, group] = [block.records[index], block.groups[index]];
  const [part, id] = [block.parts[index], block.ids[index]];
  if (!record || !group || !part || id === undefined)
    throw new RangeError(`Block ${head.lastId} has no record ${index}.`);
  const { serviceName, resource, scope } = group;
  return {
    ...record,
    id,
    organizationId: head.organizationId,
    accountId: part.accountId,
    serviceName,
    resource,
    scope,
    receivedAt: part.receivedAt,
    skewMs: part.skewMs,
    bytes: weigh(record) + weighOrigin(group),
  };
}

/** Whether one of a block's records is meant, the organization being the block's. */
export function isMeantOf(block: OpenedBlock, index: number, filter: RecordFilter): boolean {
  const [record, group, part] = [block.records[index], block.groups[index], block.parts[index]];
  const { accountId, fromReceivedAt = 0, toReceivedAt = Infinity } = filter;
  return (
    record !== undefined &&
    group !== undefined &&
    part !== undefined &&
    (accountId === undefined || part.accountId === accountId) &&
    part.receivedAt >= fromReceivedAt &&
    part.receivedAt < toReceivedAt &&
    isMeant(record, group, filter)
  );
}

/** A block's records again by the request that they came in. */
export function partsOf({ records, groups, parts }: OpenedBlock): Part[] {
  const found: (BlockPart & { groups: (Omit<RecordGroup, 'records'> & { records: TelemetryRecord[] })[] })[] =
    [];
  records.forEach((record, index) => {
    const [group, part] = [groups[index], parts[index]];
    if (!group || !part) return;
    const isNext = index === 0 || parts[index - 1] !== part;
    if (isNext) found.push({ ...part, groups: [] });
    const of = found.at(-1)?.groups;
    if (isNext || groups[index - 1] !== group) of?.push({ ...group, records: [] });
    of?.at(-1)?.records.push(record);
  });
  return found;
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
  for (const { key, value } of pairs) sum += Buffer.byteLength(key) + weighValue(value);
  return sum;
}

function weighValue(value: StoredValue): number {
  if ('stringValue' in value) return valueBytes + Buffer.byteLength(value.stringValue);
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
    weight = Buffer.byteLength(JSON.stringify([group.resource, group.scope]));
    origins.set(group, weight);
  }
  return weight;
}
