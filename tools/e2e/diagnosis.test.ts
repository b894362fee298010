import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Installation } from './installation.ts';
import { straight, topologies } from './topologies.ts';

describe.each(topologies)('$name', (topology) => {
  /** `sallyport doctor` and `sallyport api` as a person uses them, against a gateway that comes and goes. */
  let installation: Installation;
  beforeAll(() => (installation = new Installation(topology)));
  afterAll(() => installation[Symbol.asyncDispose]());

  async function doctor(): Promise<{ code: unknown; statuses: Record<string, string> }> {
    const program = installation.sallyport(['doctor', '--json']);
    const code = await program.end();
    expect(program.stderr).toBe('');
    const { findings } = JSON.parse(program.stdout) as { findings: { check: string; status: string }[] };
    return { code, statuses: Object.fromEntries(findings.map(({ check, status }) => [check, status])) };
  }

  test('doctor finds nothing at a gateway that serves, and names what is down', async () => {
    const gateway = await installation.gateway();
    const before = await doctor();
    expect(before).toMatchObject({ code: 0, statuses: { login: 'warn', WebSocket: 'ok' } });

    await installation.login();
    const { code, statuses } = await doctor();
    expect(code).toBe(0);
    expect(Object.keys(statuses)).toEqual(
      expect.arrayContaining(['clock', 'discovery', 'account', 'WebSocket']),
    );
    expect(new Set(Object.values(statuses))).toEqual(new Set(['ok']));

    const profile = installation.sallyport(['api', 'oauth.profile']);
    expect(await profile.end(), profile.screen).toBe(0);
    const { organization } = JSON.parse(profile.stdout) as { organization: { uuid: string } };
    const listed = installation.sallyport(['api', 'bridge.list', '--param', `org_uuid=${organization.uuid}`]);
    expect(await listed.end(), listed.screen).toBe(0);
    expect(JSON.parse(listed.stdout)).toMatchObject({ environments: [] });
    const missing = installation.sallyport(['api', 'GET', '/v1/sessions/session_none']);
    expect(await missing.end()).toBe(4);
    expect(JSON.parse(missing.stdout)).toMatchObject({ error: 'not_found' });

    await gateway.stop();
    if (topology !== straight) {
      // The one in front is there; what only the other one knows is not.
      const { statuses } = await doctor();
      expect(statuses).toMatchObject({
        address: 'ok',
        discovery: 'fail',
        account: 'fail',
        WebSocket: 'fail',
      });
      const list = installation.sallyport(['session', 'list']);
      expect(await list.end()).toBe(6);
      expect(list.stderr).toMatch(/upstream cannot be reached.*\n.*sallyport-gateway doctor/);
      await installation.kill('gateway in front');
    }
    expect(await doctor()).toMatchObject({ code: 1, statuses: { login: 'ok', address: 'fail' } });
    expect(await installation.sallyport(['api', '/v1/sessions']).end()).toBe(6);
  });
});
