import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { takeRequest } from './block.ts';
import { createBlockOpener } from './opened-block.ts';
import type { StoredBlock } from './ports.ts';

/** Blocks of so many bytes, none of them readable, which is noted as each is decoded. */
function watchedOpener(bytes: number) {
  const seen = { inTurn: 0, most: 0, decoded: 0 };
  const open = createBlockOpener(
    { blockContent: () => Promise.resolve(new Uint8Array(bytes)) },
    {
      note() {
        if (seen.inTurn++ === 0) void setImmediate().then(() => (seen.inTurn = 0));
        seen.most = Math.max(seen.most, seen.inTurn);
        seen.decoded++;
      },
    },
  );
  const head = (id: number): StoredBlock => ({
    organizationId: 'organization',
    accountId: 'account',
    lastId: id,
    records: 1,
    receivedAt: 0,
    skewMs: null,
    form: 'groups',
    summary: null,
  });
  return { seen, openAll: (ids: readonly number[]) => each(ids, (id) => open(head(id))) };
}

async function each(ids: readonly number[], act: (id: number) => Promise<unknown>): Promise<void> {
  for (const id of ids) await act(id);
}

test.each([
  ['a megabyte', 1024 ** 2, 1],
  ['a few kilobytes', 8 * 1024, 8],
])('between blocks of %s others have a turn, however many read', async (_, bytes, atOnce) => {
  const { seen, openAll } = watchedOpener(bytes);
  const ids = Array.from({ length: 50 }, (_id, index) => index + 1);
  await Promise.all(Array.from({ length: 10 }, (_reader, of) => openAll(ids.map((id) => of * 100 + id))));
  expect(seen.decoded).toBe(500);
  expect(seen.most).toBeLessThanOrEqual(atOnce);
});

test('who wait for the same block share what the first of them decoded', async () => {
  const request = '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{}]}]}]}';
  const [block] = takeRequest({ encoding: 'json', bytes: Buffer.from(request) }, 0).blocks;
  const { content, ...written } = block!;
  const open = createBlockOpener(
    { blockContent: () => Promise.resolve(structuredClone(content)) },
    { note: (_, error) => expect.unreachable(String(error)) },
  );
  const whose = { organizationId: 'organization', accountId: 'account', receivedAt: 0, skewMs: null };
  const head = { ...written, ...whose, lastId: 1 };
  const [first, ...others] = await Promise.all([open(head), open(head), open(head)]);
  expect(first?.records).toHaveLength(1);
  for (const other of others) expect(other).toBe(first);
});
