import { join } from 'node:path';
import { freePort } from '@sallyport/core/testing';
import { afterEach, expect, test, vi } from 'vitest';
import { binDir, Installation } from './installation.ts';
import type { Program } from './process.ts';

// The main job with a gateway in front of the gateway: nobody who calls should notice.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let installation: Installation;
let front: Program;
afterEach(() => installation[Symbol.asyncDispose]());

const gateway = join(binDir, 'sallyport-gateway');

/** One that only passes on: the gateway behind goes by the address of the one in front. */
async function transparent(): Promise<NodeJS.ProcessEnv> {
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const back = installation.run(gateway, ['start', '--public-url', publicUrl], { env: behind() });
  await startFront(await listening(back), port, { SALLYPORT_DATA_DIR: join(installation.folder, 'front') });
  await installation.login({ SALLYPORT_DATA_DIR: behind().SALLYPORT_DATA_DIR });
  return {};
}

/** One that puts its own address in place of that of the gateway behind, which workers would go to otherwise. */
async function rewriting(): Promise<NodeJS.ProcessEnv> {
  const upstream = await listening(installation.run(gateway, ['start'], { env: behind() }));
  const there = { ...behind(), SALLYPORT_BASE_URL: upstream };
  await installation.login(there);
  const create = installation.sallyport(['keys', 'create', '--name', 'agents'], { env: there });
  await create.end();
  await startFront(upstream, await freePort(), { SALLYPORT_UPSTREAM_REWRITE_WORKER_ADDRESSES: 'true' });
  // In place of a login.
  return { SALLYPORT_TOKEN: create.stdout.trim() };
}

function behind() {
  const { folder } = installation;
  return { SALLYPORT_DATA_DIR: join(folder, 'back'), SALLYPORT_CONFIG_DIR: join(folder, 'back-config') };
}

async function listening(program: Program): Promise<string> {
  const [, url = ''] = await program.shows(/^listening on (http:\S+)$/m);
  return url;
}

async function startFront(upstream: string, port: number, env: NodeJS.ProcessEnv): Promise<void> {
  front = installation.run(gateway, ['start', '--upstream', upstream, '--port', String(port)], { env });
  installation.baseUrl = await listening(front);
}

test.each([
  ['passes on what is said', transparent],
  ['rewrites addresses', rewriting],
])('a session runs through both: the one in front %s', async (_name, chain) => {
  installation = new Installation();
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
  await startFront('http://127.0.0.1:9', await freePort(), {
    SALLYPORT_AREAS_OAUTH: 'local',
    SALLYPORT_UPSTREAM_CREDENTIAL: 'none',
  });
  await installation.login();
  const whoami = installation.sallyport(['whoami', '--json']);
  expect(await whoami.end(), whoami.screen).toBe(0);
  expect(await front.stop('SIGTERM')).toBe(0);
});
