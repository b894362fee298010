import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Installation } from './installation.ts';
import { ClockBench } from './steps/clock-bench.ts';
import { gatewaysOfEach, topologies } from './topologies.ts';

test.each(gatewaysOfEach)(
  'the $name is killed in the middle, $topology.name: the login holds, the bridge goes on by itself, the running and the next session end well',
  async ({ topology, name }) => {
    await using installation = new Installation(topology);
    await installation.gateway();
    await installation.login();
    const bridge = installation.sallyport([
      'bridge',
      'run',
      '--exec',
      'echo one; cat > /dev/null; while [ ! -e go ]; do sleep 0.05; done; echo two',
    ]);
    await bridge.shows(/Waiting for work/);
    const first = installation.sallyport(['session', 'run', 'first']);
    await first.shows(/^one$/m);

    await installation.kill(name);
    await installation.start(name);
    await installation.run('touch', ['go']).end();

    expect(await first.end()).toBe(0);
    expect(first.stdout).toBe('one\ntwo\n');
    const next = installation.sallyport(['session', 'run', 'second']);
    expect(await next.end(), next.screen).toBe(0);
    expect(next.stdout).toBe('one\ntwo\n');
    expect(bridge.ended).toBe(false);
    expect(await bridge.stop('SIGINT')).toBe(0);
  },
  60_000,
);

describe.each(topologies)('wrong input is one clear sentence: $name', (topology) => {
  let installation: Installation;
  beforeAll(async () => {
    installation = new Installation(topology);
    await installation.gateway();
  });
  afterAll(() => installation[Symbol.asyncDispose]());

  async function refused(
    args: readonly string[],
    exitCode: number,
    env: NodeJS.ProcessEnv = {},
  ): Promise<string> {
    const program = installation.sallyport(args, { env });
    expect(await program.end(), program.screen).toBe(exitCode);
    expect(program.stdout).toBe('');
    expect(program.stderr).not.toMatch(/^\s+at /m);
    const json = installation.sallyport(['--json', ...args], { env });
    await json.end();
    const document = JSON.parse(json.stdout) as Record<string, unknown>;
    expect([typeof document['error'], typeof document['error_description']]).toEqual(['string', 'string']);
    return program.stderr;
  }

  test('no login', async () => {
    expect(await refused(['whoami'], 3)).toMatch(/no login for \S+ on this machine.*\n.*sallyport login/);
    expect(await refused(['session', 'list'], 3)).toMatch(/sallyport login/);
  });

  test('gateway down', async () => {
    await installation.login();
    expect(
      await refused(['session', 'list'], 6, {
        SALLYPORT_BASE_URL: 'http://127.0.0.1:1',
        SALLYPORT_TOKEN: 'x',
      }),
    ).toMatch(/http:\/\/127\.0\.0\.1:1 cannot be reached: connection refused/);
  });

  test('wrong URL', async () => {
    expect(await refused(['whoami'], 2, { SALLYPORT_BASE_URL: 'nonsense' })).toMatch(
      /SALLYPORT_BASE_URL is "nonsense"/,
    );
  });

  test('a login that was ended elsewhere', async () => {
    await installation.login();
    const copy = join(installation.folder, 'copy');
    cpSync(join(installation.folder, 'config'), copy, { recursive: true });
    expect(await installation.sallyport(['logout'], { env: { SALLYPORT_CONFIG_DIR: copy } }).end()).toBe(0);
    expect(await refused(['whoami'], 3)).toMatch(/no longer accepts the login.*\n.*sallyport login/);
    await installation.login();
  });

  test('a login whose time is up', async () => {
    await using years = new ClockBench(topology);
    await years.gateway([], years.shifted);
    await years.login();
    years.set(10 * 365 * 86_400_000);
    const whoami = years.sallyport(['whoami']);
    expect(await whoami.end()).toBe(3);
    expect(whoami.stderr).toMatch(/no longer accepts the login.*\n.*sallyport login/);
  });

  test('a refused token', async () => {
    expect(await refused(['whoami'], 3, { SALLYPORT_TOKEN: 'expired' })).toMatch(/SALLYPORT_TOKEN/);
  });

  test('unknown session', async () => {
    expect(await refused(['session', 'show', 'session_nope'], 4)).toMatch(/session_nope/);
  });

  test('no environment online', async () => {
    expect(await refused(['session', 'run', 'look'], 4)).toMatch(
      /No environment is online.*\n.*sallyport bridge run/,
    );
  });

  test('wrong usage', async () => {
    const program = installation.sallyport(['sesion', 'list']);
    expect(await program.end()).toBe(2);
    expect(program.stderr).toMatch(/Did you mean session/);
  });
});
