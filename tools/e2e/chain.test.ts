import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { binDir, Installation } from './installation.ts';
import type { Program } from './process.ts';
import { chained } from './topologies.ts';

// The main job with a gateway in front of the gateway: nobody who calls should notice.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let installation: Installation;
let front: Program;
afterEach(() => installation[Symbol.asyncDispose]());

const gateway = join(binDir, 'sallyport-gateway');

/** One that only passes on: the gateway behind goes by the address of the one in front. */
async function transparent(): Promise<NodeJS.ProcessEnv> {
  installation = new Installation(chained);
  front = await installation.start('gateway in front');
  await installation.gateway();
  await installation.login();
  return {};
}

/** One that puts its own address in place of that of the gateway behind, which workers would go to otherwise. */
async function rewriting(): Promise<NodeJS.ProcessEnv> {
  installation = new Installation();
  const { upstream, key } = await startUpstream();
  await startFront(upstream, { SALLYPORT_UPSTREAM_REWRITE_WORKER_ADDRESSES: 'true' });
  // In place of a login.
  return { SALLYPORT_TOKEN: key };
}

/** One that knows of nobody in front; with a key of its owner. */
async function startUpstream() {
  const upstream = await listening(installation.run(gateway, ['start'], { env: behind() }));
  const there = { ...behind(), SALLYPORT_BASE_URL: upstream };
  await installation.login(there);
  const create = installation.sallyport(['keys', 'create', '--name', 'agents'], { env: there });
  await create.end();
  return { upstream, key: create.stdout.trim() };
}

function behind() {
  const { folder } = installation;
  return { SALLYPORT_DATA_DIR: join(folder, 'back'), SALLYPORT_CONFIG_DIR: join(folder, 'back-config') };
}

async function listening(program: Program): Promise<string> {
  const [, url = ''] = await program.shows(/^listening on (http:\S+)$/m);
  return url;
}

async function startFront(upstream: string, env: NodeJS.ProcessEnv): Promise<void> {
  front = installation.run(gateway, ['start', '--upstream', upstream], { env });
  installation.baseUrl = await listening(front);
}

test.each([
  ['passes on what is said', transparent],
  ['rewrites addresses', rewriting],
])('a session runs through both: the one in front %s', async (_name, chain) => {
  const env = await chain();
  const bridge = installation.sallyport(
    ['bridge', 'run', '--exec', 'printf "%s\\n" one two; exit 0', '--dir', installation.folder],
    { env },
  );
  await bridge.shows(/Waiting for work/);
  const run = installation.sallyport(['session', 'run', 'look'], { env });
  await run.end();
  expect(run.stdout, run.screen).toMatch(/one\ntwo\n/);

  // Handshake, events and hints have come this way.
  const metrics = await (await fetch(`${installation.baseUrl}/metrics`)).text();
  const counted = (name: string, row: string) =>
    expect(metrics).toMatch(new RegExp(`^sallyport_${name}\\{[^}]*row="${row}"[^}]*\\} [1-9]`, 'm'));
  for (const row of ['worker.bridge', 'worker.register', 'worker.stream']) counted('requests_total', row);
  counted('requests_in_flight', 'bridge.ws');

  // The bridge's WebSocket is open: the gateway in front closes it, and ends by itself.
  expect(await front.stop('SIGTERM')).toBe(0);
  expect(await bridge.stop('SIGINT')).toBe(0);
});

test('people log in at a gateway that keeps accounts and passes the rest on', async () => {
  installation = new Installation();
  await startFront('http://127.0.0.1:9', {
    SALLYPORT_AREAS_OAUTH: 'local',
    SALLYPORT_UPSTREAM_CREDENTIAL: 'none',
  });
  await installation.login();
  const whoami = installation.sallyport(['whoami', '--json']);
  expect(await whoami.end(), whoami.screen).toBe(0);
  expect(await front.stop('SIGTERM')).toBe(0);
});

test('a bridge whose accounts are here and whose service is not says why it cannot register, and whose matter it is', async () => {
  installation = new Installation();
  const { upstream, key } = await startUpstream();
  await startFront(upstream, { SALLYPORT_AREAS_OAUTH: 'local', SALLYPORT_UPSTREAM_CREDENTIAL: key });
  await installation.login();
  const bridge = installation.sallyport(['bridge', 'run', '--exec', 'true']);
  expect(await bridge.end(), bridge.screen).toBe(1);
  expect(bridge.stderr).toMatch(
    /^error: The token of this device does not reach .*`areas\.bridge` to local.*\n$/m,
  );
});
