import { ManualClock } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { createBridgeAccountData } from './account-data.ts';
import { defaultBridgeConfig } from './config.ts';
import type { BridgeStore } from './ports.ts';
import type { Seen, Session } from './records.ts';

test.each([
  ['running', 0],
  ['disconnected', 60_000],
  ['disconnected', undefined],
])('an export has a session as %s whose environment was seen %s ms ago', async (status, ago) => {
  const clock = new ManualClock();
  const seen: Seen | null = ago === undefined ? null : { lastSeenAt: clock.now() - ago, leftAt: null };
  const session: Session = {
    id: 'session_1',
    organizationId: 'org',
    accountId: 'account',
    environmentId: 'env_1',
    workId: 'work_1',
    title: '',
    tags: [],
    context: {},
    createdAt: 1,
    updatedAt: 1,
    workState: 'active',
    seen,
  };
  const reads = {
    accountSessions: () => Promise.resolve({ items: [session], isLast: true }),
    session: () => Promise.resolve(session),
    events: () => Promise.resolve({ events: [], scannedTo: 0 }),
  };
  const store = { acts: {}, reads } as unknown as BridgeStore;
  const data = createBridgeAccountData({
    store,
    accounts: { emails: () => Promise.reject(new Error('nobody sent anything')) },
    clock,
    config: defaultBridgeConfig,
  });
  const items: unknown[] = [];
  for await (const item of data.export('account')['sessions'] ?? []) items.push(item);
  expect(items).toMatchObject([{ session: { id: 'session_1', status } }]);
});
