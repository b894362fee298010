import { describe, expect, test } from 'vitest';
import { endpoints } from './contract/index.ts';
import { inDialect, neutralDialect } from './dialect.ts';

const other = { vendor: 'acme', agent: 'robot' };

describe('inDialect', () => {
  test.each([
    ['vendor-beta', 'acme-beta'],
    ['Vendor-Worker-ID', 'Acme-Worker-ID'],
    ['vendor_api', 'acme_api'],
    ['/api/oauth/agent_cli/roles', '/api/oauth/robot_cli/roles'],
    ['agent_max', 'robot_max'],
    ['/v1/agents', '/v1/agents'],
    ['managed-agents-2026-04-01', 'managed-agents-2026-04-01'],
    ['x-environment-runner-version', 'x-environment-runner-version'],
    ['/v1/environments/{env_id}/work/poll', '/v1/environments/{env_id}/work/poll'],
  ])('%s -> %s', (neutral, spoken) => {
    expect(inDialect(neutral, other)).toBe(spoken);
    expect(inDialect(neutral, neutralDialect)).toBe(neutral);
  });

  test('no beta value changes with the dialect', () => {
    const betas = endpoints.flatMap(({ beta }: { beta?: string }) => beta ?? []);
    expect(betas).toContain('ccr-byoc-2025-07-29');
    for (const beta of betas) expect(inDialect(beta, other)).toBe(beta);
  });
});
