import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Installation } from './installation.ts';
import type { Program } from './process.ts';

describe('the gateway is killed in the middle', () => {
  let installation: Installation;
  beforeAll(async () => {
    installation = new Installation();
    await installation.gateway();
    await installation.login();
  });
  afterAll(() => installation[Symbol.asyncDispose]());

  test('the login holds, the bridge goes on by itself, the running and the next session end well', async () => {
    const bridge = installation.sallyport([
      'bridge',
      'run',
      '--exec',
      'echo one; cat > /dev/null; while [ ! -e go ]; do sleep 0.05; done; echo two',
    ]);
    await bridge.shows(/Waiting for work/);
    const first = installation.sallyport(['session', 'run', 'first']);
    await first.shows(/^one$/m);

    const killed = await restartGateway(installation);
    expect(killed).toBe('SIGKILL');
    await installation.run('touch', ['go']).end();

    expect(await first.end()).toBe(0);
    expect(first.stdout).toBe('one\ntwo\n');
    const next = installation.sallyport(['session', 'run', 'second']);
    expect(await next.end(), next.screen).toBe(0);
    expect(next.stdout).toBe('one\ntwo\n');
    expect(bridge.ended).toBe(false);
    expect(await bridge.stop('SIGINT')).toBe(0);
  }, 60_000);
});

let gateway: Program | undefined;

async function restartGateway(installation: Installation): Promise<unknown> {
  gateway ??= installation.programs.at(0);
  const code = await gateway?.stop('SIGKILL');
  gateway = await installation.gateway();
  return code;
}

describe('wrong input is one clear sentence', () => {
  let installation: Installation;
  beforeAll(async () => {
    installation = new Installation();
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
    expect(await refused(['whoami'], 3)).toMatch(/no login on this machine.*\n.*sallyport login/);
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
    await using short = new Installation();
    await short.gateway(['--set=oauth.accessTokenSeconds=1', '--set=oauth.refreshAbsoluteSeconds=1']);
    await short.login();
    const whoami = async () => {
      const program = short.sallyport(['whoami']);
      return { exitCode: await program.end(), stderr: program.stderr };
    };
    await expect.poll(whoami, { timeout: 15_000 }).toEqual({
      exitCode: 3,
      stderr: expect.stringMatching(/no longer accepts the login.*\n.*sallyport login/) as string,
    });
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
