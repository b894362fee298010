import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OTLPLogExporter as JsonExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { decodeJwt } from 'jose';
import * as openid from 'openid-client';
import { freePort } from '@sallyport/core/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { show, type Shown } from '../bridge/shown.ts';
import { redirectUri, runGateway, type RunningGateway } from '../oauth/running-gateway.ts';
import { startFront } from './front-process.ts';

// Clients that nobody here wrote, in front of a gateway in front of a gateway, each in a process of its own.

let directory: string;
let back: RunningGateway;
let front: Awaited<ReturnType<typeof startFront>>;
let accessToken: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sallyport-through-'));
  const port = await freePort();
  back = await runGateway({ publicUrl: `http://127.0.0.1:${port}` });
  front = await startFront({ port: String(port), 'data-dir': directory, upstream: back.url });
});
afterAll(async () => {
  await front.close();
  await back.close();
  rmSync(directory, { recursive: true });
});

test('openid-client logs in, refreshes and revokes', async () => {
  const config = await openid.discovery(new URL(front.url), back.clientId, undefined, openid.None(), {
    execute: [openid.allowInsecureRequests],
    algorithm: 'oauth2',
  });
  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const expectedState = openid.randomState();
  const request = openid.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'profile vendor_api',
    state: expectedState,
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  expect(request.origin).toBe(front.url);
  const answer = await back.approve(request);
  const first = await openid.authorizationCodeGrant(config, answer, { pkceCodeVerifier, expectedState });
  const second = await openid.refreshTokenGrant(config, first.refresh_token ?? '');
  accessToken = second.access_token;
  await expect(openid.tokenRevocation(config, first.access_token)).resolves.toBeUndefined();
});

test.each([
  ['JSON', JsonExporter],
  ['protobuf', ProtobufExporter],
])('the OpenTelemetry exporter for %s', async (encoding, Exporter) => {
  const headers = { authorization: `Bearer ${accessToken}` };
  const exporter = new Exporter({ url: `${front.url}/v1/logs`, headers });
  const provider = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter })] });
  provider.getLogger('library').emit({ body: 'through', eventName: `sent.${encoding}` });
  await provider.forceFlush();
  await provider.shutdown();
  const records = await fetch(`${front.url}/v1/logs`, { headers });
  expect(await records.json()).toContainEqual(
    expect.objectContaining({
      record: expect.objectContaining({
        body: { stringValue: 'through' },
        eventName: `sent.${encoding}`,
      }) as unknown,
    }),
  );
});

describe('curl', () => {
  const bearer = () => ['-H', `Authorization: Bearer ${accessToken}`];
  const curl = (...args: string[]): Shown => show('curl', '-sS', '-N', ...bearer(), ...args);
  const sends = (body: object) => ['-H', 'Content-Type: application/json', '-d', JSON.stringify(body)];

  test('sends records in chunks, and reads them', async () => {
    const logRecords = [{ body: { stringValue: 'by hand' } }];
    const chunked = [
      ...sends({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }),
      '-H',
      'Transfer-Encoding: chunked',
    ];
    await curl('-w', ' %{http_code}', ...chunked, `${front.url}/v1/logs`).match(/^\{\} 200$/);
    await curl(`${front.url}/v1/logs`).match(/"stringValue":"by hand"/);
  });

  test('has its poll held, and sees events as they come', async () => {
    const runner = ['-H', 'x-environment-runner-version: 1.0.0'];
    const [device] = await curl(
      ...sends({ display_name: 'curl' }),
      `${front.url}/api/auth/trusted_devices`,
    ).match(/^\S+$/);
    const register = [...runner, '-H', 'vendor-worker-id: w', '-H', `x-trusted-device-token: ${device}`];
    const machine = sends({ machine_name: 'one', directory: '/src' });
    const [, environmentId = ''] = await curl(
      ...register,
      ...machine,
      `${front.url}/v1/environments/bridge`,
    ).match(/"environment_id":"([^"]+)"/);
    const held = curl('-v', `${front.url}/v1/environments/${environmentId}/work/poll?block_ms=60000`);
    await held.match(/^> GET /m);
    const { org = '' } = decodeJwt<{ readonly org?: string }>(accessToken);
    const own = [
      '-H',
      'vendor-client-feature: ccr',
      '-H',
      'vendor-beta: ccr-byoc-2025-07-29',
      '-H',
      `x-organization-uuid: ${org}`,
    ];
    const session = sends({
      environment_id: environmentId,
      events: [{ type: 'note', data: { text: 'first' } }],
    });
    const [, id = ''] = await curl(...runner, ...own, ...session, `${front.url}/v1/sessions`).match(
      /"id":"(session_[^"]+)"/,
    );
    await held.match(new RegExp(`"data":{"type":"session","id":"${id}"}`));
    const live = curl(`${front.url}/v1/sessions/${id}/events/stream?beta=true`);
    await live.match(/"text":"first"/);
    await curl(
      ...sends({ events: [{ type: 'note', data: { text: 'second' } }] }),
      `${front.url}/v1/sessions/${id}/events`,
    ).match(/"seq"/);
    await live.match(/"text":"second"/);
  });
});
