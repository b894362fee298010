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

/** A key of a new account of the one organization. */
function keyOf(dataDir: string, email: string): Promise<string> {
  return withAuthorizationServer({ dataDir }, async ({ accounts, organizations, apiKeys }) => {
    const { id: accountId } = await accounts.add({ email });
    const [membership] = await organizations.of(accountId);
    const organizationId = membership?.organization.id ?? '';
    const caller = { accountId, organizationId, scopes: ['profile', 'vendor_api'], isApiKey: false };
    return apiKeys.create(caller, { name: 'test' });
  });
}

test('what an account has in the outbox is exported and erased with it, what waits and what was refused, and no more', async () => {
  const dataDir = scratchDirectory();
  await using upstream = await scriptedUpstream();
  const clock = new ManualClock(Date.now());
  const { config } = loadConfig({
    env: {},
    flags: { port: 0, dataDir, upstream: upstream.url, 'areas.account': 'local', ...own },
  });
  const gateway = await startGateway({ config, clock });
  onTestFinished(() => gateway.close());
  const [eve, ann] = [await keyOf(dataDir, 'eve@example.com'), await keyOf(dataDir, 'ann@example.com')];
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
  upstream.answer = ({ headers, body }, response) => {
    const events = headers['content-encoding'] ? [] : eventsIn(body);
    const isRefused = events.length > 0 && events.every((name) => name.includes('refused'));
    if (upstream.seen.length <= 2 || !isRefused) response.destroy();
    else response.writeHead(events.length > 2 ? 413 : 400).end('no');
  };
  await send(eve, 'eve refused');
  await send(ann, 'ann refused');
  await send(eve, 'eve waits', { 'content-encoding': 'gzip' });
  await send(ann, 'ann waits');
  const admin = async (...args: readonly string[]) => {
    const { stdout, failed } = await adminCommand(dataDir, ...args);
    expect(failed).toBe(undefined);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const letters = async () =>
    (await admin('telemetry', 'dead-letters', 'list')) as unknown as { account_id: string }[];
  for (let aside = 0; aside < 4; aside = (await letters()).length) await clock.advance(1000);

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
  expect(await admin('user', 'export', 'ann@example.com')).toMatchObject({
    telemetry_waiting: [{ records: 3 }],
    telemetry_dead_letters: [{ records: 2 }, { records: 1 }],
  });
});
