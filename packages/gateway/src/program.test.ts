import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { browser, password } from '../test/oauth/visitor.ts';
import { withAuthorizationServer } from './admin/authorization.ts';
import { lockStore } from './store/embedded/lock.ts';

// Several processes a test, each started from sources.
vi.setConfig({ testTimeout: 60_000 });

const main = join(import.meta.dirname, 'main.ts');
let directory: string;
beforeAll(() => void (directory = mkdtempSync(join(tmpdir(), 'sallyport-program-'))));
afterAll(() => rmSync(directory, { recursive: true }));

function program(
  args: readonly string[],
  env: Record<string, string> = {},
  stdout: 'pipe' | number = 'pipe',
) {
  const child = spawn(process.execPath, ['--conditions=@sallyport/source', main, ...args], {
    env: { PATH: process.env['PATH'], HOME: directory, ...env },
    stdio: ['ignore', stdout, 'pipe'],
  }) as ChildProcessByStdio<null, Readable, Readable>;
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** A file that takes nothing. */
function fullDisk(): number {
  const file = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(file));
  return file;
}

async function run(args: readonly string[], env?: Record<string, string>) {
  const child = program(args, env);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number]>,
  ]);
  return { code, stdout, stderr };
}

/** A gateway as a child process; `url` is what its first line of output says. */
async function started(dataDir: string, args: readonly string[] = []) {
  const child = program(['start', '--port', '0', '--data-dir', dataDir, ...args]);
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  const errors = text(child.stderr);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const line = await lines.next();
  if (line.done === true) throw new Error(await errors);
  const url = line.value.replace('listening on ', '');
  return {
    child,
    line: line.value,
    lines,
    url,
    errors,
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal);
      return (await closed)[0];
    },
  };
}

/** A request in flight, of which the rest never comes. */
async function halfSent(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const head =
    'POST /v1/oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5';
  socket.write(`${head}\r\nExpect: 100-continue\r\n\r\n`);
  await once(socket, 'data'); // the gateway asks for the rest
  return socket;
}

describe('start', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('serves until %s, and ends with 0', async (signal) => {
    const dataDir = join(directory, `start-${signal}`);
    const gateway = await started(dataDir);
    expect(gateway.line).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+$/);
    expect(await (await fetch(`${gateway.url}/readyz`)).json()).toMatchObject({
      status: 'ready',
      checks: { store: 'ok' },
    });
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(await gateway.stop(signal)).toBe(0);
  });

  test.each([
    ['cannot be written, as on a full disk,', '2</dev/null'],
    ['nobody reads any more', ''],
  ])('a log that %s neither ends it nor keeps it from ending', async (_how, redirection) => {
    const args = ['start', '--port', '0', '--log-level', 'info', '--data-dir', join(directory, 'unread')];
    const command = [process.execPath, '--conditions=@sallyport/source', main, ...args];
    const child = spawn('sh', ['-c', `exec "$@" ${redirection}`, 'sh', ...command], {
      env: { PATH: process.env['PATH'], HOME: directory },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stderr.destroy();
    const exited = once(child, 'exit');
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const url = line.replace('listening on ', '');
    for (let i = 0; i < 3; i++) expect((await fetch(`${url}/v1/nothing`)).status).toBe(404);
    child.kill();
    expect(await exited).toEqual([0, null]);
  });

  test('of five gateways that start at once on the same data one serves, and the others say which', async () => {
    const args = ['start', '--port', '0', '--data-dir', join(directory, 'race')];
    const gateways = Array.from({ length: 5 }, () => program(args));
    const outputs = gateways.map(async (child) => ({
      child,
      stderr: text(child.stderr),
      ...(await Promise.race([
        once(createInterface(child.stdout), 'line').then(([line]) => ({ line: String(line) })),
        once(child, 'exit').then(([code]) => ({ code: Number(code) })),
      ])),
    }));
    const ended = await Promise.all(outputs);
    const [winner, ...more] = ended.filter((output) => 'line' in output);
    expect(more).toEqual([]);
    const url = winner && 'line' in winner ? winner.line.replace('listening on ', '') : '';
    for (const loser of ended.filter((output) => output !== winner)) {
      expect(loser).toMatchObject({ code: 1 });
      expect(await loser.stderr).toBe(
        `sallyport-gateway: The store ${join(directory, 'race', 'sallyport.db')} is in use by another gateway (process ${String(winner?.child.pid)}, ${url}): stop it, or give this one a directory of its own with --data-dir.\n`,
      );
    }
    const stopped = winner && once(winner.child, 'exit');
    winner?.child.kill();
    expect(await stopped).toEqual([0, null]);
  });

  test('of two gateways with directories of their own one has the store that both name', async () => {
    const on = ['--store', `sqlite:${join(directory, 'shared.db')}`];
    const gateway = await started(join(directory, 'one'), on);
    const second = await run(['start', '--port', '0', '--data-dir', join(directory, 'other'), ...on]);
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toMatch(
      /^sallyport-gateway: The store .*shared\.db is in use by another gateway .*\n$/,
    );
    expect(await gateway.stop()).toBe(0);
  });

  test('a port in use is refused in one sentence, and the data is not touched', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const refused = await run(['start', '--port', String(port), '--data-dir', join(directory, 'untouched')]);
    holder.close();
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toBe(
      `sallyport-gateway: 127.0.0.1:${port} is in use by another program: stop it, or choose another port with --port (0 picks a free one).\n`,
    );
    expect(() => statSync(join(directory, 'untouched'))).toThrow('ENOENT');
  });

  test('a port that a gateway holds already is said to be, with its process and address', async () => {
    const gateway = await started(join(directory, 'running'));
    const { port } = new URL(gateway.url);
    const start = (at: string) => run(['start', '--port', port, '--data-dir', join(directory, at)]);
    const same = await start('running');
    expect(same).toMatchObject({
      code: 1,
      stderr: `sallyport-gateway: The gateway runs already (process ${String(gateway.child.pid)}) at ${gateway.url}: use it, or stop it first.\n`,
    });
    const other = await start('another');
    expect(other.stderr).toBe(
      `sallyport-gateway: A gateway with another data directory runs at ${gateway.url}: stop it, or choose another port with --port (0 picks a free one).\n`,
    );
    expect(await gateway.stop()).toBe(0);
  });

  test.each([join(main, 'below-a-file'), '/proc/sallyport'])(
    '%s as the data directory is refused',
    async (at) => {
      const refused = await run(['start', '--port', '0', '--data-dir', at]);
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toMatch(
        new RegExp(
          `^sallyport-gateway: The directory ${at} cannot be made \\(.*\\): give another one with --data-dir.*\n$`,
        ),
      );
    },
  );

  test('prints the one-time link of a new installation when asked to', async () => {
    const dataDir = join(directory, 'setup');
    const gateway = await started(dataDir, ['--print-setup']);
    expect((await gateway.lines.next()).value).toBe('');
    const [link = ''] = /http:.*/.exec((await gateway.lines.next()).value ?? '') ?? [];
    expect(link).toMatch(`${gateway.url}/setup?`);
    expect((await fetch(link)).status).toBe(200);
    expect(await gateway.stop()).toBe(0);
    expect(await gateway.errors).not.toContain('--print-setup');
    const made = await run(['admin', 'audit', '--action', 'setup_link.make', '--data-dir', dataDir]);
    expect(JSON.parse(made.stdout)).toMatchObject([
      {
        actor: { type: 'operator', id: userInfo().username },
        account: { email: 'owner@localhost' },
        address: null,
      },
    ]);
  });

  test.runIf(process.platform === 'linux')('a terminal shows no JSON, and the link last', async () => {
    const args = ['--conditions=@sallyport/source', main, 'start', '--port', '0'];
    const command = [process.execPath, ...args, '--data-dir', join(directory, 'terminal')].join(' ');
    const child = spawn('script', ['--quiet', '--return', '--command', `exec ${command}`, '/dev/null'], {
      env: { PATH: process.env['PATH'], HOME: directory },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let screen = '';
    child.stdout.on('data', (data) => (screen += String(data)));
    await expect.poll(() => screen).toMatch(/\/setup\?\S+\s/);
    const url = /listening on (\S+)/.exec(screen)?.[1] ?? '';
    for (const path of ['/login', '/nothing']) await fetch(url + path);
    const closed = once(child, 'close');
    child.stdin.write('\x03');
    expect(await closed).toEqual([0, null]);
    expect(screen.replace('^C', '').trim().split(/\s*\n/)).toEqual([
      `listening on ${url}`,
      expect.stringMatching(`^Set the owner's password: ${url}/setup\\?token=\\S+$`),
    ]);
  });

  test('without a terminal it is told how to get the link, and none is made', async () => {
    const dataDir = join(directory, 'untold');
    const on = ['--data-dir', dataDir];
    const given = await run(['admin', 'user', 'password', 'owner@localhost', ...on]);
    const { setup_link: link } = JSON.parse(given.stdout) as { setup_link: string };
    const gateway = await started(dataDir);
    const page = link.replace(/^http:..[^/]+/, gateway.url);
    await expect.poll(async () => (await fetch(page)).status).toBe(200);
    expect(await gateway.stop()).toBe(0);
    const told = (await gateway.errors).split('\n').filter((line) => line.includes('--print-setup'));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(
      `\`sallyport-gateway admin user password owner@localhost --data-dir ${dataDir}\``,
    );
    expect(await gateway.errors).not.toMatch(/token=(?!\[Redacted\])/);
  });

  test('a request that never ends holds a stop no longer than the deadline', async () => {
    const gateway = await started(join(directory, 'deadline'), ['--set', 'drainSeconds=0.3']);
    const socket = await halfSent(gateway.url);
    expect(await gateway.stop()).toBe(0);
    socket.destroy();
  });

  test('a second signal ends it at once', async () => {
    const gateway = await started(join(directory, 'impatient'));
    const socket = await halfSent(gateway.url);
    gateway.child.kill('SIGTERM');
    gateway.child.kill('SIGTERM'); // an echo: its parent, and the group
    await expect
      .poll(async () => (await fetch(`${gateway.url}/readyz`).catch(() => undefined))?.status ?? 503)
      .toBe(503);
    expect(await gateway.stop('SIGINT')).toBe(130);
    socket.destroy();
  });
});

describe('usage', () => {
  test('ends without a word where its output is read no further', async () => {
    const dataDir = join(directory, 'cut');
    await run(['admin', 'rotate-keys', '--data-dir', dataDir]);
    const child = program(['admin', 'user', 'export', 'owner@localhost', '--data-dir', dataDir]);
    child.stdout.destroy();
    const closed = once(child, 'close') as Promise<[number]>;
    const [stderr, [code]] = await Promise.all([text(child.stderr), closed]);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  });

  test.each([
    { args: ['config'] },
    { args: ['openapi'] },
    { args: ['admin', 'user', 'list'] },
    { args: ['start', '--port', '0'] },
  ])('output that cannot be written is told in one sentence: $args', async ({ args }) => {
    const dataDir = args[0] === 'openapi' ? [] : ['--data-dir', join(directory, 'full-output')];
    const child = program([...args, ...dataDir], {}, fullDisk());
    const stderr = text(child.stderr);
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(1);
    expect(await stderr).toContain(
      'sallyport-gateway: Standard output cannot be written: the disk is full.\n',
    );
    expect(await stderr).not.toMatch(/^ +at /m);
  });

  test('--version and --help load no more than the command line', async () => {
    expect(await run(['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
      stderr: '',
    });
    const help = await run(['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain('Examples:');
    const loaded = await run(['--version'], { NODE_DEBUG: 'module,esm' });
    expect(loaded.stderr).toContain('commander');
    for (const heavy of ['fastify', 'zod', 'pino', 'node_modules/ws/'])
      expect(loaded.stderr).not.toContain(heavy);
  });

  test.each([
    [
      ['strat'],
      /^sallyport-gateway: Unknown command 'strat'\. Did you mean start\?\nSee: sallyport-gateway --help\n$/,
    ],
    [
      ['frobnicate', '--port', '0'],
      /^sallyport-gateway: Unknown command 'frobnicate'\.\nSee: sallyport-gateway --help\n$/,
    ],
    [
      ['start', 'now'],
      /^sallyport-gateway: Start takes no arguments, but got now\.\nSee: sallyport-gateway start --help\n$/,
    ],
    [
      ['admin', 'usr'],
      /^sallyport-gateway: Unknown command 'usr'\. Did you mean user\?\nSee: sallyport-gateway admin --help\n$/,
    ],
    [
      ['start', '--prot', '1'],
      /^sallyport-gateway: Unknown option '--prot'\. Did you mean --port\?\nSee: sallyport-gateway start --help\n$/,
    ],
    [
      ['start', '--set', 'port'],
      /'--set <key=value>' argument 'port' is invalid: It must be KEY=VALUE\.\nSee: sallyport-gateway start --help\n$/,
    ],
    [['start', '--port', 'x'], /^sallyport-gateway: port \(from --port\) must be a whole number/],
    [['config', '--set', 'oauth.issParam=1'], /Did you mean oauth\.issParameter\?/],
  ])('%j is wrong usage', async (args, message) => {
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('    at ');
  });
});

describe('config', () => {
  test('prints each setting with its origin', async () => {
    const { code, stdout } = await run(['config', '--json', '--port', '1'], { SALLYPORT_LOG_LEVEL: 'warn' });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      port: { value: 1, origin: '--port' },
      logLevel: { value: 'warn', origin: 'SALLYPORT_LOG_LEVEL' },
      host: { value: '127.0.0.1', origin: 'default' },
      publicUrl: { value: null, origin: 'default' },
    });
    expect((await run(['config'])).stdout).toMatch(/^host +127\.0\.0\.1 {2}\(default\)$/m);
  });
});

describe('migrate and doctor', () => {
  test('make and check a store', async () => {
    const dataDir = join(directory, 'migrated');
    const migrated = await run(['migrate', '--data-dir', dataDir]);
    expect(migrated).toMatchObject({ code: 0, stdout: `${join(dataDir, 'sallyport.db')} is up to date\n` });
    const doctor = await run(['doctor', '--json', '--data-dir', dataDir]);
    expect(doctor.code).toBe(0);
    expect(JSON.parse(doctor.stdout)).toEqual({
      ok: true,
      findings: ['configuration', 'data directory', 'store'].map((check) => ({
        check,
        status: 'ok',
        says: expect.any(String) as string,
      })),
    });
  });

  test('doctor passes where nothing is yet, and makes nothing', async () => {
    const dataDir = join(directory, 'fresh', 'machine');
    const { code, stdout } = await run(['doctor', '--data-dir', dataDir]);
    expect(code).toBe(0);
    expect(stdout).toContain(`ok    store: ${join(dataDir, 'sallyport.db')} is made at the first start\n`);
    expect(existsSync(join(directory, 'fresh'))).toBe(false);
  });

  test('doctor lets a store of an older release pass, unless a gateway holds it', async () => {
    const dataDir = join(directory, 'older');
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'sallyport.db'), '');
    const idle = await run(['doctor', '--data-dir', dataDir]);
    expect([idle.code, idle.stdout]).toEqual([
      0,
      expect.stringContaining('of an older release: the next start brings it up to date'),
    ]);
    const lock = lockStore(join(dataDir, 'sallyport.db'));
    const held = await run(['doctor', '--data-dir', dataDir]);
    lock.release();
    expect([held.code, held.stdout]).toEqual([
      1,
      expect.stringMatching(/^fail  store: .*restart the gateway/m),
    ]);
  });

  test('doctor names what would stop a start', async () => {
    const { code, stdout } = await run(['doctor', '--data-dir', join(main, 'below-a-file')]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^fail  data directory: /m);
    // Rights are not all: nobody makes anything there, whatever they are.
    expect((await run(['doctor', '--data-dir', '/proc/x'])).stdout).toMatch(
      /^fail  data directory: .*--data-dir/m,
    );
    expect((await run(['doctor', '--port', 'x'])).stdout).toMatch(/^fail  configuration: port/m);
  });
});

describe('admin', () => {
  /** JSON of a command that must succeed. */
  async function record(args: readonly string[]): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await run(args);
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  /** The owner's. */
  function apiKey(dataDir: string): Promise<string> {
    return withAuthorizationServer({ dataDir }, async ({ accounts, organizations, apiKeys }) => {
      const { id: accountId } = await accounts.find();
      const [membership] = await organizations.of(accountId);
      const organizationId = membership?.organization.id ?? '';
      return apiKeys.create({ accountId, organizationId, scopes: ['vendor_api'], isApiKey: false }, {});
    });
  }

  test('works on the data of a running gateway, and a session key opens what it should', async () => {
    const dataDir = join(directory, 'admin');
    const gateway = await started(dataDir);
    const on = ['--data-dir', dataDir];
    const [added, client, org] = await Promise.all([
      run(['admin', 'user', 'add', 'me@example.com', '--role', 'admin', ...on]),
      record(['admin', 'client', 'add', '--name', 'Mine', '--redirect-uri', 'https://a.example/cb', ...on]),
      record(['admin', 'org', 'add', 'Second', '--zero-data-retention', ...on]),
    ]);
    const user = JSON.parse(added.stdout) as Record<string, unknown>;
    expect(user).toMatchObject({ email: 'me@example.com', has_password: false });
    expect(added.stderr).toContain(
      `\`sallyport-gateway admin user password me@example.com --data-dir ${dataDir}\``,
    );
    expect(await run(['admin', 'audit', '--actor', 'typo@example.com', ...on])).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('There is no account typo@example.com') as string,
    });
    expect(client).toMatchObject({ client_name: 'Mine', redirect_uris: ['https://a.example/cb'] });
    expect(org).toMatchObject({ name: 'Second', zero_data_retention: true });

    const key = await run(['admin', 'session-key', '--user', 'me@example.com', ...on]);
    expect(key).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S+\n$/) as string, stderr: '' });
    const bootstrap = await fetch(`${gateway.url}/api/bootstrap`, {
      headers: { authorization: `Bearer ${key.stdout.trim()}` },
    });
    expect(await bootstrap.json()).toMatchObject({ account: { uuid: user['id'] } });
    // The port is another one than the configuration's.
    const { setup_link: link } = await record(['admin', 'user', 'password', 'me@example.com', ...on]);
    expect(link).toMatch(`${gateway.url}/setup?token=`);
    expect(await gateway.stop()).toBe(0);
  });

  test('unlocks an account that wrong passwords have locked in the running gateway', async () => {
    const dataDir = join(directory, 'locked');
    const gateway = await started(dataDir, ['--set', 'oauth.failures.passwords=2']);
    const on = ['--data-dir', dataDir];
    const email = 'owner@localhost';
    const visitor = browser(gateway.url);
    const { setup_link: link } = await record(['admin', 'user', 'password', email, ...on]);
    const { pathname, search } = new URL(String(link));
    await visitor.submit(await visitor.get(pathname + search), { password, repeated: password });
    await visitor.send('/logout', {});
    const signIn = async (given: string) => {
      const stranger = browser(gateway.url);
      return (await stranger.submit(await stranger.get('/login'), { email, password: given })).status;
    };
    const lockOut = async () => {
      expect([await signIn('wrong'), await signIn('wrong'), await signIn(password)]).toEqual([401, 401, 429]);
    };

    await lockOut();
    const unlock = ['admin', 'user', 'unlock', email, ...on];
    const unlocked = await record(unlock);
    expect(unlocked).toEqual({ id: expect.any(String) as string, email, was_locked: true });
    expect(await signIn(password)).toBe(303);
    expect(await record(unlock)).toEqual({ ...unlocked, was_locked: false });

    await lockOut();
    const path = `/api/admin/people/${String(unlocked['id'])}/unlock`;
    const headers = { authorization: `Bearer ${await apiKey(dataDir)}` };
    const answer = await fetch(gateway.url + path, { method: 'POST', headers });
    expect(await answer.json()).toEqual(unlocked);
    expect(await signIn(password)).toBe(303);

    const unknown = await run(['admin', 'user', 'unlock', 'typo@example.com', ...on]);
    expect(unknown).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no account typo@') as string,
    });
    expect(await gateway.stop()).toBe(0);
  });

  test('says in one sentence what is wrong', async () => {
    await run(['admin', 'rotate-keys', '--data-dir', join(directory, 'none')]);
    const nobody = await run([
      'admin',
      'session-key',
      '--user',
      'x@y.example',
      '--data-dir',
      join(directory, 'none'),
    ]);
    expect(nobody).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `sallyport-gateway: There is no account x@y.example: see which there are with \`sallyport-gateway admin user list --data-dir ${join(directory, 'none')}\`.\n`,
    });
    expect((await run(['admin', 'user', 'add', 'a@b.example', '--role', 'king'])).code).toBe(2);
  });
});
