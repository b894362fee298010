import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { binDir } from './installation.ts';
import type { Program } from './process.ts';
import { inEachTopology } from './steps/in-each-topology.ts';

/** Prints, then stays until it is told to end or the file `go` appears; says with what its standard input went on. */
const patient = `exec 3<&0; echo started; trap 'echo stopping; exit 7' INT TERM; sed -un 's/.*"text":"\\([^"]*\\)".*/heard \\1/p' <&3 &
while [ ! -e go ]; do sleep 0.05; done; echo over`;

inEachTopology((the) => {
  interface Done {
    readonly code: number | string | null;
    readonly stdout: string;
    readonly stderr: string;
  }

  async function sallyport(...args: string[]): Promise<Done> {
    const program = the.installation.sallyport(args);
    const code = await program.end();
    return { code, stdout: program.stdout, stderr: program.stderr };
  }

  async function json(...args: string[]): Promise<Record<string, unknown>> {
    return JSON.parse((await sallyport('--json', ...args)).stdout) as Record<string, unknown>;
  }

  async function bridge(command: string, ...args: string[]): Promise<Program> {
    const program = the.installation.sallyport(['bridge', 'run', '--exec', command, ...args]);
    await program.shows(/Waiting for work/);
    return program;
  }

  async function detached(prompt: string, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await sallyport('session', 'run', prompt, '--detach', ...args);
    expect(code, stderr).toBe(0);
    return stdout.trim();
  }

  describe('an environment that is offline', () => {
    test('is waited for with a word on stderr, and its work is taken up when its bridge comes back', async () => {
      const first = await bridge('echo one');
      const [environment] = (await json('bridge', 'status')) as unknown as { environment_id: string }[];
      await first.stop('SIGINT');
      const waiting = the.installation.sallyport([
        'session',
        'run',
        'look',
        '--env',
        environment!.environment_id,
      ]);
      await waiting.shows(/^waiting for env_\w+ \(.+, .+\); (last seen|online)/m);
      expect(waiting.stdout).toBe('');
      const second = await bridge('echo one');
      expect(await waiting.end(), waiting.screen).toBe(0);
      expect(waiting.stdout).toBe('one\n');
      await second.stop('SIGINT');
    });
  });

  describe('a team', () => {
    const colleague = 'bob@example.com';
    const config = () => ({ SALLYPORT_CONFIG_DIR: join(the.installation.folder, 'colleague') });

    async function asColleague(...args: string[]): Promise<Done> {
      const program = the.installation.sallyport(args, { env: config() });
      const code = await program.end();
      return { code, stdout: program.stdout, stderr: program.stderr };
    }

    async function administrate(...args: string[]): Promise<string> {
      const program = the.installation.run(join(binDir, 'sallyport-gateway'), ['admin', ...args]);
      expect(await program.end(), program.screen).toBe(0);
      return program.stdout;
    }

    test('sees who started a session, and who may; everybody finds their own', async () => {
      const alone = await bridge('echo one');
      const mine = (await sallyport('session', 'run', 'look', '--detach')).stdout.trim();
      expect((await sallyport('session', 'wait', mine)).code).toBe(0);
      await alone.stop('SIGINT');
      expect(alone.screen).not.toContain('Other members');

      const account = JSON.parse(await administrate('user', 'add', colleague)) as { id: string };
      const input = await administrate('session-key', '--user', colleague);
      const login = the.installation.sallyport(['login', '--session-key-stdin'], { input, env: config() });
      expect(await login.end(), login.screen).toBe(0);
      const shared = await bridge('echo one');
      await shared.shows(/^Other members of the organization may run sessions here/m);
      const theirs = (await asColleague('session', 'run', 'look', '--detach')).stdout.trim();
      expect((await asColleague('session', 'wait', theirs)).code).toBe(0);
      await shared.stop('SIGINT');

      const [listed, listedTheirs] = [
        await sallyport('session', 'list'),
        await asColleague('session', 'list'),
      ];
      expect(listed.stdout).toMatch(/^ID +STATUS +CREATED +ENVIRONMENT +STARTED BY +TITLE\n/);
      expect(listed.stdout).toMatch(new RegExp(`^${theirs} .* ${colleague} +look$`, 'm'));
      expect(listed.stdout).toMatch(new RegExp(`^${mine} .* owner@localhost +look$`, 'm'));
      expect(listedTheirs.stdout).toMatch(new RegExp(`^${theirs} .* ${colleague} +look$`, 'm'));
      expect(listedTheirs.stdout).toMatch(new RegExp(`^${mine} .* owner@localhost +look$`, 'm'));
      expect(await json('session', 'show', theirs)).toMatchObject({
        account: { id: account.id, email: colleague },
      });

      const own = (done: Done) => (JSON.parse(done.stdout) as { id: string }[]).map(({ id }) => id);
      expect(own(await asColleague('--json', 'session', 'list', '--mine'))).toEqual([theirs]);
      const ofOwner = own(await sallyport('--json', 'session', 'list', '--mine'));
      expect(ofOwner).toContain(mine);
      expect(ofOwner).not.toContain(theirs);

      expect((await sallyport('session', 'delete', theirs, '--yes')).code).toBe(0);
      expect(JSON.parse(await administrate('audit', '--action', 'session.delete'))).toMatchObject([
        { action: 'session.delete', actor: { email: 'owner@localhost' }, subject: theirs },
      ]);
      await administrate('user', 'remove', colleague);
    });
  });

  describe('a session that runs', () => {
    let running: Program;
    beforeAll(async () => {
      running = await bridge(patient, '--interactive');
    });
    afterAll(() => running.stop('SIGKILL'));

    test('Ctrl-C stops it in words; the exit code is 130', async () => {
      const run = the.installation.sallyport(['session', 'run', 'look']);
      await run.shows(/^started$/m);
      run.signal('SIGINT');
      expect(await run.end(), run.screen).toBe(130);
      expect(run.stderr).toContain('asked to stop\n');
      expect(run.stderr).toContain('session stopped: exit code 7\n');
      expect(run.screen).not.toContain('control.');
    });

    test('a second signal leaves it to itself, and names it', async () => {
      const stubborn = the.installation.sallyport(['session', 'run', 'look']);
      await stubborn.shows(/^started$/m);
      // The runtime gives the process ten seconds; both signals come long before.
      the.installation.programs.at(0)?.signal('SIGSTOP');
      stubborn.signal('SIGINT');
      await stubborn.shows(/press Ctrl-C again/);
      stubborn.signal('SIGTERM'); // the same one at once would be an echo
      const code = await stubborn.end();
      the.installation.programs.at(0)?.signal('SIGCONT');
      expect(code).toBe(130);
      expect(stubborn.stderr).toMatch(
        /Session (session_\w+) is left to itself.\n.*session logs -f \1\n.*session stop --force \1/,
      );
    });

    test('logs are read, followed, and read from a place; a message arrives; a stop is waited for', async () => {
      const id = await detached('look');
      const follower = the.installation.sallyport(['session', 'logs', '-f', id]);
      await follower.shows(/^started$/m);
      expect(follower.stderr).toContain('> look\n');

      expect(await sallyport('session', 'send', id, 'and here')).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Sent as event \d+ of session session_\w+\.\n$/) as string,
      });
      await follower.shows(/^heard and here$/m);

      const now = await sallyport('--json', 'session', 'logs', id);
      expect(now.code).toBe(0);
      const events = now.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { seq: number; type: string });
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      expect(events[0]).toMatchObject({ type: 'session.message', data: { text: 'look' } });
      const later = await sallyport('--json', 'session', 'logs', id, '--from-seq', '1');
      expect(JSON.parse(later.stdout.split('\n', 1)[0]!)).toMatchObject({ seq: 2 });

      const stop = await json('session', 'stop', id, '--wait');
      expect(stop).toMatchObject({ id, status: 'stopped' });
      expect(await follower.end()).toBe(0);
      // Past its end nothing comes any more: the follower does not wait for it.
      expect((await sallyport('session', 'logs', '-f', id, '--from-seq', '9999')).code).toBe(0);
      expect(await sallyport('session', 'stop', id)).toMatchObject({
        code: 0,
        stdout: `Session ${id} has ended already: stopped.\n`,
      });
      expect(await sallyport('session', 'send', id, 'late')).toMatchObject({
        code: 5,
        stderr: expect.stringContaining('sallyport session run') as string,
      });

      const shown = await sallyport('session', 'show', id);
      expect(shown.stdout).toContain('stopped (exit code 7)\n');
      expect(shown.stdout).not.toContain('Tags');
      expect(await json('session', 'show', id)).toMatchObject({ end: { status: 'stopped', exit_code: 7 } });
      expect((await sallyport('session', 'list')).stdout).toMatch(
        /^ID +STATUS +CREATED +ENVIRONMENT +TITLE\n(.*\n)*session_\w+ +stopped +just now +env_\w+ +look$/m,
      );
    });

    test('a forced stop ends it at once', async () => {
      const id = await detached('look');
      expect(await sallyport('session', 'stop', id, '--force')).toMatchObject({
        code: 0,
        stdout: `Session ${id} has ended: stopped.\n`,
      });
    });

    test('deleting asks; what is not there is told, and does not keep the rest', async () => {
      const [one, two] = [await detached('one'), await detached('two')];
      expect(await sallyport('session', 'delete', one)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--yes') as string,
      });
      expect(await sallyport('session', 'delete', one, 'session_nope', two, '--yes')).toEqual({
        code: 4,
        stdout: `Session ${one} is deleted.\nSession ${two} is deleted.\n`,
        stderr: expect.stringMatching(/session_nope.*\n.*sallyport session list/) as string,
      });
      expect(await sallyport('session', 'show', one)).toMatchObject({
        code: 4,
        stderr: expect.stringContaining('sallyport session list') as string,
      });
    });
  });
});
