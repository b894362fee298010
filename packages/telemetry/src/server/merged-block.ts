import { groupsOf, type PackedGroups } from './block-groups.ts';
import { summarize } from './block-summary.ts';
import type { RecordGroup } from './logs-request.ts';
import type { BlockPart, MergedBlock } from './ports.ts';

// Records of several requests of an organization, one block instead of many small ones: with each part of it who sent it and
// when, and what its records are of once for all neighbours that have the same.

/** Between the first and the last record of a merged block: its place in listings is that of the last one. */
export const longestMergedMs = 5 * 60_000;

/** The records of one request, or those of it that are left. */
export interface Part extends BlockPart {
  readonly groups: readonly RecordGroup[];
}

/** As JSON. The groups are those of all parts, one after the other. */
interface Packed {
  readonly parts: readonly BlockPart[];
  readonly groups: PackedGroups;
}

/** One block of parts in the order of their ids; `undefined` for none. */
export function mergeParts(organizationId: string, parts: readonly Part[]): MergedBlock | undefined {
  const [first, last] = [parts[0], parts.at(-1)];
  if (!first || !last) return undefined;
  const groups = parts.flatMap((part) => part.groups);
  const packed: Packed = {
    parts: parts.map(({ groups: _groups, ...part }) => part),
    groups: joinNeighbours(groups),
  };
  const content = new TextEncoder().encode(JSON.stringify(packed));
  const accountIds = [...new Set(parts.map(({ accountId }) => accountId))];
  const place = { receivedAt: first.receivedAt, id: firstIdOf(first) };
  return {
    organizationId,
    accountId: accountIds.length === 1 ? first.accountId : null,
    lastId: last.lastId,
    receivedAt: last.receivedAt,
    form: 'merged',
    records: parts.reduce((sum, { records }) => sum + records, 0),
    summary: summarize(groups, content, { first: place, accountIds }),
    content,
  };
}

export function unpackMerged(content: Uint8Array): {
  readonly parts: readonly BlockPart[];
  readonly groups: readonly RecordGroup[];
} {
  const { parts, groups } = JSON.parse(new TextDecoder().decode(content)) as Packed;
  return { parts, groups: groupsOf(groups) };
}

export function firstIdOf({ lastId, records }: Pick<BlockPart, 'lastId' | 'records'>): number {
  return lastId - records + 1;
}

/** What has the same JSON is the same: the order of attributes counts, and is kept. */
function joinNeighbours(groups: readonly RecordGroup[]): PackedGroups {
  type Scopes = { scope: RecordGroup['scope']; records: RecordGroup['records'][number][] }[];
  const packed: { serviceName: string; resource: RecordGroup['resource']; scopes: Scopes }[] = [];
  let [lastOrigin, lastScope] = ['', ''];
  for (const { serviceName, resource, scope, records } of groups) {
    const [ofOrigin, ofScope] = [JSON.stringify([serviceName, resource]), JSON.stringify(scope)];
    if (ofOrigin !== lastOrigin) packed.push({ serviceName, resource, scopes: [] });
    const scopes = packed.at(-1)?.scopes;
    if (ofOrigin !== lastOrigin || ofScope !== lastScope) scopes?.push({ scope, records: [] });
    scopes?.at(-1)?.records.push(...records);
    [lastOrigin, lastScope] = [ofOrigin, ofScope];
  }
  return packed;
}
