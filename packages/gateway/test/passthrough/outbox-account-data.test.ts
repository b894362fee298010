import { gzipSync } from 'node:zlib';
import { ManualClock } from '@sallyport/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { withAuthorizationServer } from '../../src/admin/authorization.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway } from '../../src/start.ts';
import { adminCommand } from '../admin/command.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { eventsIn, own } from './outbox-harness.ts';
import { scriptedUpstream } from './scripted-upstream.ts';

/** A key of a new account, of the first organization or of that one. */
function keyOf(dataDir: string, email: string, organization?: string): Promise<string> {
  return withAuthorizationServer({ dataDir }, async ({ accounts, organizations, apiKeys }) => {
    const { id: accountId } = await accounts.add({
      email,
      ...(organization && { organizationId: organization }),
    });
    const [membership] = await organizations.of(accountId);
    const organizationId = membership?.organization.id ?? '';
    const caller = { accountId, organizationId, scopes: ['profile', 'vendor_api'], isApiKey: false };
    return apiKeys.create(caller, { name: 'test' });
  });
}

/** Two accounts have three events that wait, compressed for one of them, and three that are refused in two halves. */
async function openOutboxWorld({ isApart = false } = {}) {
  const dataDir = scratchDirectory();
  const upstream = await scriptedUpstream();
  onTestFinished(() => upstream[Symbol.asyncDispose]());
  const clock = new ManualClock(Date.now());
  const { config } = loadConfig({
    env: {},
    flags: { port: 0, dataDir, upstream: upstream.url, 'areas.account': 'local', ...own },
  });
  const gateway = await startGateway({ config, clock });
  onTestFinished(() => gateway.close());
  const admin = async (...args: readonly string[]) => {
    const { stdout, failed } = await adminCommand(dataDir, ...args);
    expect(failed).toBe(undefined);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const apart = isApart ? String((await admin('org', 'add', 'Gone'))['id']) : undefined;
  const eve = await keyOf(dataDir, 'eve@example.com', apart);
  const ann = await keyOf(dataDir, 'ann@example.com');
  const send = async (key: string, eventName: string, headers: Record<string, string> = {}) => {
    const events = [0, 1, 2].map((n) => ({ severityNumber: 9, eventName: `${eventName} ${n}` }));
    const body = JSON.stringify({ events });
    const { status } = await fetch(`${gateway.url}/api/event_logging/v2/batch`, {
      method: 'POST',
      body: headers['content-encoding'] ? gzipSync(body) : body,
      headers: {
        'x-service-name': 'test',
        'content-type': 'application/json',
        authorization: `Bearer ${key}`,
        ...headers,
      },
    });
    expect(status).toBe(200);
  };
  // What is refused is halved before; what is compressed is never taken.
  let isAway = true;
  upstream.answer = ({ headers, body }, response) => {
    const events = headers['content-encoding'] ? [] : eventsIn(body);
    const isRefused = events.length > 0 && events.every((name) => name.includes('refused'));
    if (isAway || !isRefused) response.destroy();
    else response.writeHead(events.length > 2 ? 413 : 400).end('no');
  };
  await send(eve, 'eve refused');
  await send(ann, 'ann refused');
  await send(eve, 'eve waits', { 'content-encoding': 'gzip' });
  await send(ann, 'ann waits');
  isAway = false;
  const letters = async () =>
    (await admin('telemetry', 'dead-letters', 'list')) as unknown as { account_id: string }[];
  for (let aside = 0; aside < 4; aside = (await letters()).length) await clock.advance(1000);
  return { admin, letters, eve };
}

const annsOwn = {
  telemetry_waiting: [{ records: 3 }],
  telemetry_dead_letters: [{ records: 2 }, { records: 1 }],
};

test('what an account has in the outbox is exported and erased with it, what waits and what was refused, and no more', async () => {
  const { admin, letters, eve } = await openOutboxWorld();
  const exported = await admin('user', 'export', 'eve@example.com');
  const { id } = exported['account'] as { id: string };
  expect((await letters()).map(({ account_id }) => account_id === id)).toEqual([true, true, false, false]);
  const refusal = { status: 400, reason: 'no', records: expect.any(Number) as number };
  expect(exported).toMatchObject({
    telemetry_waiting: [
      {
        path: '/api/event_logging/v2/batch',
        records: 3,
        body: expect.stringContaining('"eve waits 2"') as string,
      },
    ],
    telemetry_dead_letters: [
      { ...refusal, body: expect.stringMatching(/eve refused 0.*eve refused 1/) as string },
      { ...refusal, body: expect.stringContaining('eve refused 2') as string },
    ],
  });
  expect(JSON.stringify(exported)).not.toContain('ann');
  expect(JSON.stringify(exported)).not.toContain(eve);

  expect(await admin('user', 'erase', 'eve@example.com', '--yes')).toMatchObject({
    erased: { telemetry_waiting: 1, telemetry_dead_letters: 2 },
  });
  expect((await letters()).map(({ account_id }) => account_id === id)).toEqual([false, false]);
  expect(await admin('user', 'export', 'ann@example.com')).toMatchObject(annsOwn);
});

test('what an organization has in the outbox is deleted with it, and no more', async () => {
  const { admin, letters } = await openOutboxWorld({ isApart: true });
  expect(await admin('org', 'delete', 'Gone', '--yes')).toMatchObject({
    erased: { telemetry_waiting: 1, telemetry_dead_letters: 2 },
  });
  expect(await letters()).toHaveLength(2);
  expect(await admin('user', 'export', 'ann@example.com')).toMatchObject(annsOwn);
});
