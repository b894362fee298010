import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { withAuthorizationServer } from '../../src/admin/authorization.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { startFront } from './front-process.ts';
import { scriptedUpstream } from './scripted-upstream.ts';

// A disk takes nothing more: here a limit on the length of files stands for it, which needs no rights and is the same to the
// store, but for the number of the error.

const settings = {
  areas: { oauth: 'local', devices: 'local', account: 'local' },
  upstream: { credential: 'sk-team' },
};

test('a full store: callers keep what they have, reads and what waits go on, and its room comes back without a restart', async () => {
  const directory = scratchDirectory();
  await using upstream = await scriptedUpstream();
  upstream.answer = (_request, response) => void response.destroy();
  const key = await withAuthorizationServer(
    { dataDir: directory },
    async (server) => {
      const account = await server.accounts.find();
      const [membership] = await server.organizations.of(account.id);
      const organizationId = membership?.organization.id ?? '';
      return server.apiKeys.create(
        { accountId: account.id, organizationId, scopes: ['profile', 'vendor_api'], isApiKey: false },
        { name: 'test' },
      );
    },
    { mayMake: true },
  );
  const config = join(directory, 'gateway.json');
  writeFileSync(
    config,
    JSON.stringify({ ...settings, upstream: { ...settings.upstream, url: upstream.url } }),
  );
  const front = await startFront(
    { config, 'data-dir': directory, port: '0' },
    { fileBytes: 8 * 1024 * 1024 },
  );
  onTestFinished(() => front.close());
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const stringValue = 'x'.repeat(200_000);
  let sent = 0;
  const batch = () =>
    fetch(`${front.url}/api/event_logging/v2/batch`, {
      method: 'POST',
      headers: { ...headers, 'x-service-name': `n${sent++}` },
      body: JSON.stringify({ events: [{ severityNumber: 9, body: { stringValue } }] }),
    });

  const accepted: string[] = [];
  let refused: Response;
  for (;;) {
    refused = await batch();
    if (!refused.ok) break;
    accepted.push(`n${sent - 1}`);
    if (accepted.length > 100) throw new Error('It takes more than there is room for.');
  }
  expect(accepted.length).toBeGreaterThan(10);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30']);
  const logs = await fetch(`${front.url}/v1/logs`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue } }] }] }] }),
  });
  expect([logs.status, logs.headers.get('retry-after')]).toEqual([503, '30']);
  for (const path of ['/api/oauth/profile', '/healthz'])
    expect((await fetch(`${front.url}${path}`, { headers })).status).toBe(200);

  upstream.seen.length = 0;
  upstream.answer = (_request, response) => void response.end('{}');
  const waiting = async () =>
    /outbox_requests (\d+)/.exec(await (await fetch(`${front.url}/metrics`)).text())?.[1];
  await expect.poll(waiting, { interval: 200 }).toBe('0');
  expect(upstream.seen.map((request) => request.headers['x-service-name'])).toEqual(accepted);

  upstream.answer = (_request, response) => void response.writeHead(401).end('{}');
  const again = accepted.length - 5;
  for (let i = 0; i < again; i++) expect((await batch()).status).toBe(200);
  expect([await waiting(), front.isAlive()]).toEqual([String(again), true]);
  const ready = await fetch(`${front.url}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([
    200,
    expect.objectContaining({
      warnings: expect.objectContaining({
        telemetry_auth: expect.stringContaining('refuses the gateway') as string,
      }) as object,
    }),
  ]);
  await front.close();
  const db = new DatabaseSync(join(directory, 'sallyport.db'), { readOnly: true });
  expect(db.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  db.close();
});
