import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { contract, type OrganizationEnvironment, type Session } from '@sallyport/core/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorld, type World } from '../rights/world.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { codeBlocks, startProgram, withValues } from './examples.ts';

const [runtime = '', ...more] = codeBlocks('bridge');

let world: World;
beforeAll(async () => void (world = await openWorld()));
afterAll(() => world.close());

test('there is a run of each example', () => {
  expect(more).toEqual([]);
});

test('the runtime registers its directory, and runs what a session asks for', async () => {
  const { accessToken, deviceToken } = world.person('holder');
  const program = startProgram(
    withValues(runtime, {
      'http://127.0.0.1:8787': world.url,
      '/home/me/.local/state/my-tool': scratchDirectory(),
      'my-agent --stdin': 'echo ran',
    }),
    { SALLYPORT_TOKEN: accessToken, MY_DEVICE_TOKEN: deviceToken },
  );
  const told = createInterface({ input: program.stderr })[Symbol.asyncIterator]();
  const tells = async (type: string) => {
    const seen: string[] = [];
    for (;;) {
      const { value, done = false } = await told.next();
      if (done) throw new Error(`It ended without ${type}: ${seen.join(', ')}`);
      if (value === type) return;
      seen.push(String(value));
    }
  };
  await tells('registered');
  const { environments } = await world.given<{ environments: OrganizationEnvironment[] }>(
    contract.bridge.list,
    accessToken,
    { params: { org_uuid: world.organizationId } },
  );
  const session = await world.given<Session>(contract.sessions.create, accessToken, {
    headers: {
      'x-environment-runner-version': '1',
      'vendor-client-feature': 'ccr',
      'x-organization-uuid': world.organizationId,
    },
    body: { environment_id: environments[0]?.environment_id },
  });
  await tells('session.ended');
  const ended = await world.given<Session>(contract.sessions.get, accessToken, {
    params: { id: session.id },
  });
  expect(ended.status).toBe('done');
  const exit = once(program, 'exit');
  program.kill('SIGTERM');
  await exit;
});
