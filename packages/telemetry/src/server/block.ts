import { decodeLogs, type LogsBody } from './logs-body.ts';
import type { JudgedLogs, RecordGroup } from './logs-request.ts';
import { packGroups, unpackGroups } from './block-groups.ts';
import { summarize } from './block-summary.ts';
import { unpackMerged } from './merged-block.ts';
import { judgePlainRequest } from './plain-request.ts';
import type { BlockPart, StoredBlock, WrittenBlock } from './ports.ts';

// A block is what is written and read at once: a request as it came, which costs nothing to write, or records in a form of
// their own, where there is no such request, where it is too large for a reader, or where some of it was left out. So a
// request that was kept as it came was accepted whole: the rules of judging may later take more, but not less, or another
// form than 'json' and 'protobuf' must be found for the new ones.

/** What a reader decodes at once: some milliseconds. */
const maxRequestRecords = 4096;
const maxRequestBytes = 1024 * 1024;
/** Of a request that is not plain: there may be anything in it, by the hundred thousand, that is no part of a record. */
const maxOtherBytes = 64 * 1024;

/**
 * Judges a request, and gives what is to be stored of it. Throws as `decodeLogs` does. The judged records do not outlive this:
 * the collector of garbage has little to do with what is dead when it comes.
 */
export function takeRequest(body: LogsBody, receivedAt: number): Taken {
  return takePlain(body, receivedAt) ?? takeDecoded(body, receivedAt);
}

type Taken = Omit<JudgedLogs, 'groups'> & { readonly blocks: readonly WrittenBlock[] };

/** `undefined`: it is not plain, or nothing that is stored as it came. */
function takePlain(body: LogsBody, receivedAt: number): Taken | undefined {
  const { encoding, bytes } = body;
  const plain = bytes.byteLength > maxRequestBytes ? undefined : judgePlainRequest(body, receivedAt);
  if (plain === undefined || plain.records === 0 || plain.records > maxRequestRecords) return undefined;
  const block = { form: encoding, ...plain, content: alone(bytes) };
  return { accepted: plain.records, rejected: 0, message: '', blocks: [block] };
}

function takeDecoded(body: LogsBody, receivedAt: number): Taken {
  const { groups, ...answer } = decodeLogs(body, receivedAt);
  return { ...answer, blocks: answer.accepted === 0 ? [] : blocksOf(groups, answer, body) };
}

function blocksOf(
  groups: readonly RecordGroup[],
  { accepted, rejected }: Pick<JudgedLogs, 'accepted' | 'rejected'>,
  { encoding, bytes }: LogsBody,
): WrittenBlock[] {
  if (rejected > 0 || accepted > maxRequestRecords || bytes.byteLength > maxOtherBytes)
    return packGroups(groups);
  return [{ form: encoding, records: accepted, summary: summarize(groups, bytes), content: alone(bytes) }];
}

/** A view crosses to a store's thread with its whole buffer. */
function alone(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

/** The records of a block, as they were judged, and the requests that they came in. */
export function decodeBlock(
  head: Omit<StoredBlock, 'organizationId' | 'summary'>,
  content: Uint8Array,
): { readonly groups: readonly RecordGroup[]; readonly parts: readonly BlockPart[] } {
  const { form, lastId, records, accountId, receivedAt, skewMs } = head;
  if (form === 'merged') return unpackMerged(content);
  const groups =
    form === 'groups'
      ? unpackGroups(content)
      : decodeLogs({ encoding: form, bytes: content }, receivedAt).groups;
  return { groups, parts: [{ lastId, records, accountId: accountId ?? '', receivedAt, skewMs }] };
}
