import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OTLPLogExporter as JsonExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import * as openid from 'openid-client';
import { freePort } from '@sallyport/core/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway, type Gateway } from '../../src/start.ts';
import { redirectUri, runGateway, type RunningGateway } from '../oauth/running-gateway.ts';

// Clients that nobody here wrote, in front of a gateway in front of a gateway.

let directory: string;
let back: RunningGateway;
let front: Gateway;
let accessToken: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sallyport-through-'));
  const port = await freePort();
  back = await runGateway({ publicUrl: `http://127.0.0.1:${port}` });
  front = await startGateway({
    config: loadConfig({ env: {}, flags: { port, dataDir: directory, upstream: back.url } }).config,
  });
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
