import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Installation } from './installation.ts';
import { topologies } from './topologies.ts';

/** A gateway whose upstream spells `vendor` and `agent` in its own way, and the command line that is told so. */
class DialectInstallation extends Installation {
  override get env(): NodeJS.ProcessEnv {
    return { ...super.env, SALLYPORT_DIALECT_VENDOR: 'acme', SALLYPORT_DIALECT_AGENT: 'robot' };
  }
}

describe.each(topologies)('$name', (topology) => {
  let installation: Installation;
  beforeAll(async () => {
    installation = new DialectInstallation(topology);
    await installation.gateway();
  });
  afterAll(() => installation[Symbol.asyncDispose]());

  test('logs in, works and looks around in the dialect of the gateway', async () => {
    await installation.login();
    const doctor = installation.sallyport(['doctor']);
    expect(await doctor.end(), doctor.screen).toBe(0);
    expect(doctor.screen).not.toMatch(/^(warn|fail)/m);

    const bridge = installation.sallyport(['bridge', 'run', '--once', '--exec', 'echo heard']);
    await bridge.shows(/Waiting for work/);
    const run = installation.sallyport(['session', 'run', 'look']);
    expect(await run.end(), run.screen).toBe(0);
    expect(run.stdout).toBe('heard\n');
    expect(await bridge.end(), bridge.screen).toBe(0);

    const api = installation.sallyport(['api', 'GET', '/v1/sessions']);
    expect(await api.end(), api.screen).toBe(0);
  });

  test('whoever does not speak it is told where it is set', async () => {
    const env = { SALLYPORT_DIALECT_VENDOR: 'vendor', SALLYPORT_DIALECT_AGENT: 'agent' };
    const api = installation.sallyport(['session', 'run', 'look', '--env', 'env_none'], { env });
    expect(await api.end()).not.toBe(0);
    expect(api.stderr).toMatch(/dialect/);
  });
});
