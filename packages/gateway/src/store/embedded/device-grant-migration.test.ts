import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { scratchDirectory } from '../../../test/store/scratch.ts';
import { migrations } from './contents.ts';
import { openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import { openEmbeddedStore } from './store.ts';

const place = migrations.findIndex(({ name }) => name.startsWith('oauth: device grants in the order'));
const terms = { intervalMs: 0, idleMs: 1000, absoluteMs: 1000, graceMs: 0 };

test('device grants from before are pending, approved and counted as they were', async () => {
  const path = join(scratchDirectory(), 'store.db');
  const db = openDatabase(path);
  migrate(db, migrations.slice(0, place), { now: 1, apply: true });
  db.exec(`INSERT INTO account (id, email, created_at) VALUES ('ann', 'ann@example.com', 1);
    INSERT INTO organization VALUES ('org', 'Org', 't', 't', '[]', 0, 1);
    INSERT INTO membership VALUES ('ann', 'org', 'member')`);
  const insert = db.prepare(
    `INSERT INTO oauth_device_grant (hash, user_code, client_id, scope, address, network, created_at, expires_at,
       slow_downs, last_poll_at, state, account_id, organization_id)
     VALUES (?, ?, 'client', 'profile', '1.2.3.4', 'net', 1, ?, 2, 3, ?, ?, ?)`,
  );
  insert.run('b', 'BBBBBBBB', 100, 'pending', null, null);
  insert.run('a', 'AAAAAAAA', 200, 'approved', 'ann', 'org');
  insert.run('c', 'CCCCCCCC', 300, 'approved', 'ann', 'org');
  db.close();

  const store = await openEmbeddedStore({ path });
  onTestFinished(() => store.close());
  const { acts, reads } = store.oauth;
  const pending = await reads.deviceGrant({ userCode: 'BBBBBBBB', now: 50 });
  expect(pending).toEqual({
    hash: 'b',
    userCode: 'BBBBBBBB',
    clientId: 'client',
    scope: 'profile',
    address: '1.2.3.4',
    network: 'net',
    createdAt: 1,
    expiresAt: 100,
    slowDowns: 2,
    lastPollAt: 3,
    state: 'pending',
    accountId: null,
    organizationId: null,
  });
  const another = { ...pending!, hash: 'd', userCode: 'DDDDDDDD', expiresAt: 400 };
  expect(await acts.addDeviceGrant({ grant: another, maxPending: 1, now: 50 })).toBe('too_many');
  expect(await acts.addDeviceGrant({ grant: another, maxPending: 1, now: 150 })).toBe('added');

  const poll = (hash: string) =>
    acts.pollDeviceGrant({ hash, presented: { clientId: 'client', familyId: hash }, now: 150, terms });
  expect((await poll('a')).outcome).toBe('issued');
  await acts.endMembership({ accountId: 'ann', organizationId: 'org', now: 150 });
  expect((await poll('c')).outcome).toBe('refused');
  await acts.sweep({ before: 350, auditBefore: 0, limit: 100 });
  expect(await reads.deviceGrant({ userCode: 'DDDDDDDD', now: 150 })).toMatchObject({ hash: 'd' });
  for (const userCode of ['AAAAAAAA', 'BBBBBBBB', 'CCCCCCCC'])
    expect(await reads.deviceGrant({ userCode, now: 0 })).toBeUndefined();
});
