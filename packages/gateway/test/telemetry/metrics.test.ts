import { onTestFinished, expect, test, vi } from 'vitest';
import { withAuthorizationServer } from '../../src/admin/authorization.ts';
import { runGateway } from '../oauth/running-gateway.ts';
import { serveTelemetry } from './serve-telemetry.ts';

test('/metrics tells what the engines count: records by what became of them, the export, streams of workers', async () => {
  const other = await serveTelemetry();
  const gateway = await runGateway({
    'telemetry.export.url': other.url,
    'telemetry.export.headers': 'authorization=Bearer%20access',
  });
  onTestFinished(() => gateway.close());
  const key = await withAuthorizationServer({ dataDir: gateway.dataDir }, async (server) => {
    const { id: accountId } = await server.accounts.find();
    const [membership] = await server.organizations.of(accountId);
    const organizationId = membership?.organization.id ?? '';
    return server.apiKeys.create({ accountId, organizationId, scopes: ['vendor_api'], isApiKey: false }, {});
  });
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${key}`,
    'x-service-name': 'agent_test',
    'idempotency-key': 'once',
  };
  const body = JSON.stringify({ events: [{}, {}] });
  for (let times = 0; times < 2; times++)
    await fetch(`${gateway.url}/api/event_logging/v2/batch`, { method: 'POST', headers, body });

  const counted = async () => (await fetch(`${gateway.url}/metrics`)).text();
  await vi.waitUntil(async () => /^sallyport_telemetry_export_records_total.* 2$/m.test(await counted()));
  const lines = (await counted()).split('\n');
  expect(lines.filter((line) => /^sallyport_(telemetry|worker)_/.test(line))).toEqual([
    'sallyport_worker_streams 0',
    'sallyport_telemetry_records_total{outcome="stored"} 2',
    'sallyport_telemetry_records_total{outcome="replayed"} 2',
    'sallyport_telemetry_records_total{outcome="rejected"} 0',
    'sallyport_telemetry_records_total{outcome="zero_retention"} 0',
    'sallyport_telemetry_expired_records_total 0',
    'sallyport_telemetry_expired_unexported_records_total 0',
    'sallyport_telemetry_merged_blocks_total 0',
    'sallyport_telemetry_damaged_blocks_total 0',
    'sallyport_telemetry_export_records_total{outcome="exported"} 2',
    'sallyport_telemetry_export_records_total{outcome="rejected"} 0',
    'sallyport_telemetry_export_records_total{outcome="refused"} 0',
    'sallyport_telemetry_export_requests_total 1',
    'sallyport_telemetry_export_retries_total 0',
    'sallyport_telemetry_export_failing 0',
  ]);
});
