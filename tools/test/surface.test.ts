import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { endpoints } from '@sallyport/core/contract';
import { expect, test } from 'vitest';
import { renderSurface, surfacePath } from '../generate/surface.ts';

const gateway = join(import.meta.dirname, '../../node_modules/.bin/sallyport-gateway');

test('docs/surface.md is what the contract says', () => {
  expect(readFileSync(surfacePath, 'utf8'), 'node -C @sallyport/source tools/generate/surface.ts').toBe(
    renderSurface(),
  );
});

test('`sallyport-gateway openapi` prints a document without a lint problem, every row in it', async () => {
  const source = execFileSync(gateway, ['openapi'], { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 });
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      // The specification has /v1/environments/bridge/{environment_id} beside /v1/environments/{env_id}/archive.
      'no-ambiguous-paths': 'off',
      // A WebSocket's success is 101.
      'operation-2xx-response': 'off',
    },
  });
  const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config });
  expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);

  const { paths } = JSON.parse(source) as { paths: Record<string, Record<string, { operationId: string }>> };
  const described = Object.values(paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(described.sort()).toEqual(endpoints.map(({ id }) => id).sort());
});

test('the document speaks the dialect and names the public address', () => {
  const args = ['openapi', '--public-url', 'https://gateway.example'];
  const env = { ...process.env, SALLYPORT_DIALECT_VENDOR: 'acme', SALLYPORT_DIALECT_AGENT: 'robot' };
  const text = execFileSync(gateway, args, { encoding: 'utf8', env, maxBuffer: 16 * 1024 * 1024 });
  expect(text).toContain('"url": "https://gateway.example"');
  expect(text).toContain('/api/oauth/robot_cli/roles');
  expect(text).toContain('acme-beta');
  expect(text).not.toMatch(/vendor-beta|agent_cli/);
});
