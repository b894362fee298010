import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createLocalWakeups, silentLog, systemClock } from '@sallyport/core';
import { createTelemetryEngine } from '@sallyport/telemetry/server';
import { expect, onTestFinished, test } from 'vitest';
import { checkExport } from '../../src/admin/doctor-export.ts';
import { createFindings } from '../../src/admin/findings.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway } from '../../src/start.ts';
import { openEmbeddedStore } from '../../src/store/embedded/store.ts';
import { scratchDirectory } from '../store/scratch.ts';

/** An endpoint that takes nothing until it is told to, and what it was sent. */
async function startEndpoint() {
  const told = { status: 401, agents: [] as unknown[] };
  const server = createServer((request, response) => {
    told.agents.push(request.headers['user-agent']);
    request.resume().on('end', () => response.writeHead(told.status).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { told, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A data directory with a record in its store. */
async function withRecord(): Promise<string> {
  const dataDir = scratchDirectory();
  const { telemetry: store, ...opened } = await openEmbeddedStore({ path: join(dataDir, 'sallyport.db') });
  const ports = { store, clock: systemClock, log: silentLog, wakeups: createLocalWakeups() };
  const organizations = { isZeroDataRetention: async () => false };
  const engine = createTelemetryEngine({ ...ports, organizations });
  await engine.ingestBatch({ accountId: 'ann', organizationId: 'shop' }, [{ severityNumber: 9 }], {
    serviceName: 'cart',
  });
  await opened.close();
  return dataDir;
}

test('an export that cannot be made is told by /readyz and by the doctor, and ends neither', async () => {
  const { told, url } = await startEndpoint();
  const dataDir = await withRecord();
  const { config } = loadConfig({
    flags: { port: 0, dataDir, logLevel: 'silent', 'telemetry.export.url': url },
  });
  const gateway = await startGateway({ config });
  onTestFinished(() => gateway.close());
  const ready = async () => {
    const answer = await fetch(`${gateway.url}/readyz`);
    return [answer.status, ((await answer.json()) as { warnings?: unknown }).warnings];
  };
  await expect
    .poll(ready, { timeout: 20_000 })
    .toEqual([200, { telemetry_export: 'Telemetry waits: it cannot be exported (it answers with 401).' }]);
  expect(told.agents[0]).toMatch(/^sallyport-gateway\/\d/);

  const { findings, check } = createFindings();
  await checkExport(config, check);
  told.status = 200;
  await checkExport(config, check);
  expect(findings).toEqual([
    {
      check: 'telemetry export',
      status: 'warn',
      says: expect.stringContaining(
        `${url}/v1/logs takes no records now (it answers with 401): they wait`,
      ) as string,
    },
    { check: 'telemetry export', status: 'ok', says: `${url}/v1/logs takes records` },
  ]);
});
