import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { binDir, Installation } from './installation.ts';
import type { Program } from './process.ts';
import { StepBench } from './steps/bench.ts';
import { gatewaysOfEach, topologies } from './topologies.ts';

// Many programs at the same time.
vi.setConfig({ testTimeout: 60_000 });

function refusal(program: Program): string {
  expect(program.stdout).toBe('');
  expect(program.stderr).not.toMatch(/^\s+at /m);
  return program.stderr;
}

// Straight only: it is between two that serve, whoever is in front of one.
test.concurrent(
  'a second gateway, on the data or on the port of the first, is refused and does it no harm',
  async () => {
    await using installation = new Installation();
    const gateway = await installation.gateway();
    await installation.login();
    const bridge = installation.sallyport([
      'bridge',
      'run',
      '--exec',
      'echo one; while [ ! -e go ]; do sleep 0.1; done; echo two',
    ]);
    await bridge.shows(/Waiting for work/);
    const run = installation.sallyport(['session', 'run', 'look']);
    await run.shows(/^one$/m);

    const start = (...args: string[]) =>
      installation.run(join(binDir, 'sallyport-gateway'), ['start', ...args]);
    const elsewhere = join(installation.folder, 'elsewhere');
    const onData = start('--port=0');
    const onPort = start(`--data-dir=${elsewhere}`);
    expect(await Promise.all([onData.end(), onPort.end()])).toEqual([1, 1]);
    const { pid } = gateway.child;
    expect(refusal(onData)).toBe(
      `sallyport-gateway: The store ${join(installation.folder, 'data/sallyport.db')} is in use by another gateway ` +
        `(process ${String(pid)}, ${installation.baseUrl}): stop it, or give this one a directory of its own with --data-dir.\n`,
    );
    expect(refusal(onPort)).toMatch(
      /^sallyport-gateway: A gateway with another data directory runs at http:\/\/127\.0\.0\.1:\d+: stop it, or choose another port with --port \(0 picks a free one\)\.\n$/,
    );

    writeFileSync(join(installation.folder, 'go'), '');
    expect(await run.end(), run.screen).toBe(0);
    expect(run.stdout).toBe('one\ntwo\n');
    expect(bridge.screen).not.toContain('lost its stream');
    expect(await bridge.stop('SIGINT')).toBe(0);
    // The first one still has its data for itself.
    expect(await gateway.stop('SIGTERM')).toBe(0);
    const next = await installation.gateway();
    expect(next.ended).toBe(false);
  },
);

test.concurrent.for(topologies)(
  'seven commands that find the login run out renew it once, and all succeed: $name',
  async (topology) => {
    await using installation = new Installation(topology);
    const first = await installation.gateway(['--set=oauth.accessTokenSeconds=20']);
    await installation.login();
    await first.stop('SIGTERM');
    // Not even for a moment is a refresh token good twice: a second renewal would end the login.
    const gateway = await installation.gateway(['--set=oauth.refreshGraceSeconds=0']);
    const commands = Array.from({ length: 7 }, () => installation.sallyport(['whoami']));
    expect(await Promise.all(commands.map((command) => command.end()))).toEqual(commands.map(() => 0));
    expect(new Set(commands.map(({ screen }) => screen)).size).toBe(1);
    expect(gateway.screen.match(/"row":"oauth.token"/g)).toHaveLength(1);
  },
);

const sides = ['before', 'after'] as const;

const renewals = topologies.flatMap((topology) => sides.map((side) => ({ topology, side })));

test.concurrent.for(renewals)(
  'a command that is killed while it renews the login, $side the answer, does not cost it: $topology.name',
  async ({ topology, side }) => {
    await using bench = await new StepBench({ SALLYPORT_OAUTH_ACCESS_TOKEN_SECONDS: '20' }, topology).open();
    const commands: Program[] = [];
    const hasDied = bench.proxy.holdAt('token', side, async () => {
      await commands[0]?.stop('SIGKILL');
      return 'cut';
    });
    // Within the margin before its expiry an access token is not used any more.
    commands.push(bench.sallyport(['whoami']));
    await hasDied;
    // Nobody touches its lock any more: as if ten seconds had gone by.
    const logins = join(bench.folder, 'config/state/logins');
    const lock = readdirSync(logins).find((name) => name.endsWith('.lock'))!;
    utimesSync(join(logins, lock), 0, 0);
    const next = bench.sallyport(['whoami']);
    expect(await next.end(), next.screen).toBe(0);
    expect(readdirSync(logins)).toHaveLength(1);
  },
);

const deaths = gatewaysOfEach.flatMap((each) => sides.map((side) => ({ ...each, side })));

test.concurrent.for(deaths)(
  'the $name is killed as it is asked for a session, $side the answer, $topology.name: it is asked again, or the person told to look',
  async ({ topology, name, side }) => {
    await using bench = await new StepBench({}, topology).open();
    const bridge = bench.sallyport(['bridge', 'run', '--exec', 'echo start >>trace; echo one']);
    await bridge.shows(/Waiting for work/);
    const hasDied = bench.proxyBefore(name).holdAt('create', side, async () => {
      await bench.kill(name);
      return 'cut';
    });
    const run = bench.sallyport(['session', 'run', 'look']);
    await hasDied;
    await bench.start(name);
    const exitCode = await run.end();
    if (exitCode !== 0) {
      expect(exitCode).toBe(6);
      expect(run.stderr).toMatch(/sallyport session list/);
      return;
    }
    expect(run.stdout).toBe('one\n');
    expect(readFileSync(join(bench.folder, 'trace'), 'utf8')).toBe('start\n');
  },
);
