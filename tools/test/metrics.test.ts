import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, startGateway } from '@sallyport/gateway';
import { expect, test } from 'vitest';

/** The names of the metrics that a gateway has. */
async function metricsOf(settings: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-metrics-'));
  const { config } = loadConfig({ env: {}, flags: { port: 0, dataDir, ...settings } });
  const gateway = await startGateway({ config });
  try {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    return [...text.matchAll(/^# TYPE (sallyport_\w+) /gm)].map(([, name = '']) => name);
  } finally {
    await gateway.close();
    rmSync(dataDir, { recursive: true });
  }
}

test('docs/metrics.md has every metric, and none besides', async () => {
  const local = await metricsOf({ 'telemetry.export.url': 'http://127.0.0.1:9' });
  const passingOn = await metricsOf({
    upstreams: { telemetry: { url: 'http://127.0.0.1:9', credential: 'none' } },
  });
  const page = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8');
  const told = [...page.matchAll(/`(sallyport_\w+)/g)].map(([, name = '']) => name);
  // By the status of a refusal: there once there is one.
  const later = 'sallyport_telemetry_outbox_refused_total';
  expect([...new Set(told)].sort()).toEqual([...new Set([...local, ...passingOn, later])].sort());
});
