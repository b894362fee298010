import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Program } from './process.ts';
import { inEachTopology } from './steps/in-each-topology.ts';

/** Changes its worktree as the message says, asks before it commits, and waits where it is told to. */
const agent = `git config user.name T; git config user.email t@e
while read -r line; do
  case "$line" in
    *pause*) echo old > new; echo paused;;
    *wait*) echo waiting; sleep 1000;;
    *write*) echo new > new; echo '{"type":"tool.permission_request","data":{"request_id":"r1","tool":"git","description":"commit"}}';;
    *'"allow"'*) git add .; git commit --quiet -m "$SALLYPORT_SESSION_ID"; echo committed; exit 0;;
    *'"deny"'*) echo left; exit 3;;
    *session.message*) pwd; exit 0;;
  esac
done`;

inEachTopology((the) => {
  let repository: string;
  let bridge: Program;
  beforeAll(async () => {
    repository = the.installation.repository(['first', 'second']);
    bridge = await startBridge();
  });

  async function startBridge(): Promise<Program> {
    const options = [
      '--interactive',
      '--tag',
      'repo',
      '--on-end',
      `echo "$SALLYPORT_EXIT_CODE" >> ${the.installation.folder}/ends`,
    ];
    const program = the.installation.sallyport([
      'bridge',
      'run',
      '--dir',
      repository,
      '--exec',
      agent,
      ...options,
    ]);
    await program.shows(/Waiting for work/);
    return program;
  }

  async function sallyport(...args: string[]) {
    const program = the.installation.sallyport(args);
    const code = await program.end();
    return { code, stdout: program.stdout, stderr: program.stderr };
  }

  async function detached(prompt: string, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await sallyport('session', 'run', prompt, '--detach', ...args);
    expect(code, stderr).toBe(0);
    return stdout.trim();
  }

  /** The same, by somebody on another machine. */
  async function elsewhere(...args: string[]) {
    const env = { SALLYPORT_CONFIG_DIR: join(the.installation.folder, 'elsewhere') };
    if (!existsSync(env.SALLYPORT_CONFIG_DIR)) {
      const key = the.installation.run('sallyport-gateway', ['admin', 'session-key']);
      await key.end();
      await the.installation.sallyport(['login', '--session-key-stdin'], { input: key.stdout, env }).end();
    }
    const program = the.installation.sallyport(args, { env });
    const code = await program.end();
    return { code, stdout: program.stdout, stderr: program.stderr };
  }

  describe('a session with a source', () => {
    test('works in a worktree, is given permission, and shows what it changed', async () => {
      const run = await sallyport('session', 'run', 'write', '--source', '.@main~0', '--env', 'tag:repo');
      expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('revision "main~0"') as string });

      const id = await detached('write', '--source', '.@main', '--env', 'tag:repo');
      const follower = await sallyport('session', 'logs', '-f', id, '--approve', 'always');
      expect(follower.code, follower.stderr).toBe(0);
      expect(follower.stdout).toBe('committed\n');
      expect(follower.stderr).toMatch(
        /asks for permission: git: commit\n[^]*permission is given by owner@localhost\n/,
      );
      const { stdout, code } = await sallyport('session', 'diff', id);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^diff --git a\/new b\/new\n[^]*\+new\n$/);
      expect(follower.stderr).toContain(`changed 1 file (+1 -0): sallyport session diff ${id}\n`);
      expect(await elsewhere('session', 'diff', id)).toEqual({ code: 0, stdout, stderr: '' });
      const [, folder = ''] = /works in (\S+)\n/.exec(follower.stderr) ?? [];
      expect(existsSync(join(folder, 'new'))).toBe(true);
      expect(existsSync(join(repository, 'new'))).toBe(false);
      expect(readFileSync(join(the.installation.folder, 'ends'), 'utf8')).toBe('0\n');
    });

    test('is refused permission, and is waited for', async () => {
      const id = await detached('write', '--source', repository);
      const waiting = the.installation.sallyport(['session', 'wait', id]);
      const follower = await sallyport('session', 'logs', '-f', id, '--approve', 'never');
      expect(follower.stderr).toContain('permission is refused by owner@localhost\n');
      expect(await waiting.end()).toBe(1);
      expect(waiting.stdout).toBe(`${id} failed (exit code 3)\n`);
    });

    test('that left nothing has no worktree any more; one without a source never had one', async () => {
      const [plain, clean] = [await detached('go'), await detached('go', '--source', '.')];
      expect(await sallyport('session', 'wait', plain, clean)).toEqual({
        code: 0,
        stdout: `${plain} done\n${clean} done\n`,
        stderr: '',
      });
      await bridge.shows(new RegExp(`Session ${clean} ended`));
      expect(await sallyport('session', 'diff', plain)).toMatchObject({
        code: 4,
        stderr: expect.stringContaining('has no source of its own') as string,
      });
      const nothing = { code: 0, stdout: '', stderr: `Session ${clean} has changed nothing.\n` };
      expect(await sallyport('session', 'diff', clean)).toEqual(nothing);
      expect(await elsewhere('session', 'diff', clean)).toEqual(nothing);
    });

    test('that runs is asked what it has changed so far; after an end by force that is all that is known', async () => {
      const id = await detached('pause', '--source', '.');
      const follower = the.installation.sallyport(['session', 'logs', '-f', id]);
      await follower.shows(/paused/);
      const { code, stdout, stderr } = await elsewhere('session', 'diff', id, '--stat');
      expect(code, stderr).toBe(0);
      expect(stdout).toBe(' new |   1 +\n 1 file changed, +1 -0\n');
      expect((await sallyport('session', 'stop', id, '--force', '--wait')).code).toBe(0);
      await follower.end();
      const last = await elsewhere('session', 'diff', id);
      expect(last).toMatchObject({ code: 1, stdout: expect.stringMatching(/\+old\n$/) as string });
      expect(last.stderr).toMatch(/^This was told at .*, while it ran\./);
    });

    test('that cannot be checked out has failed, and says why', async () => {
      const run = await sallyport('session', 'run', 'go', '--source', 'file:///nowhere', '--timeout', '1m');
      expect(run.code).toBe(1);
      expect(run.stderr).toMatch(
        /cannot start: .*nowhere[^]*session failed: exit code 127: it could not be started .*\n$/,
      );
      const tag = await sallyport('session', 'run', 'go', '--env', 'tag:none');
      expect(tag).toMatchObject({
        code: 4,
        stderr: expect.stringContaining('Online are those with: repo.') as string,
      });
    });
  });

  describe('what sessions left', () => {
    test('is shown with the bridges, and cleared away where it is elsewhere, too; the rest when it is named', async () => {
      const [saved, alone] = [
        await detached('write', '--source', '.'),
        await detached('write', '--source', '.'),
      ];
      for (const id of [saved, alone])
        expect((await sallyport('session', 'logs', '-f', id, '--approve', 'always')).code).toBe(0);
      await bridge.shows(new RegExp(`Session ${alone} ended`));
      execFileSync('git', ['branch', 'mine', `sallyport/${saved}`], { cwd: repository });
      const status = await sallyport('--json', 'bridge', 'status', '--dir', repository);
      const [shown] = JSON.parse(status.stdout) as { kept: { worktrees: number; bytes: number } }[];
      expect(shown!.kept.worktrees).toBeGreaterThanOrEqual(2);
      expect(shown!.kept.bytes).toBeGreaterThan(1000);
      expect((await sallyport('bridge', 'status', '--dir', repository)).stdout).toMatch(
        / \d \(\d+\.\d KiB\) /,
      );

      const cleaned = await sallyport('bridge', 'clean', '--dir', repository);
      expect(cleaned, cleaned.stderr).toMatchObject({ code: 0 });
      expect(cleaned.stdout).toMatch(/^Removed \d worktrees?; \d+\.\d KiB are free again\.\n/);
      expect(cleaned.stdout).toMatch(new RegExp(`^${alone} +just now +.* +commits +/.*$`, 'm'));
      expect(cleaned.stdout).not.toContain(saved);
      const told = await sallyport('--json', 'session', 'diff', saved);
      expect(JSON.parse(told.stdout)).toMatchObject({ from: 'log', sources: [{ file_count: 1 }] });

      expect(await sallyport('bridge', 'clean', alone)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--yes') as string,
      });
      const named = await sallyport('--json', 'bridge', 'clean', alone, '--yes');
      expect(JSON.parse(named.stdout)).toMatchObject({ removed: [alone] });
      expect(await sallyport('bridge', 'clean', alone, '--yes')).toMatchObject({
        code: 4,
        stderr: expect.stringMatching(
          /No worktree of session_\w+ stays.*\n.*sallyport bridge clean/,
        ) as string,
      });
    });
  });

  describe('a session that takes long', () => {
    test('is left to itself after its time; why it ended is told when its bridge was killed', async () => {
      mkdirSync(join(the.installation.folder, 'x'));
      const run = await sallyport('session', 'run', 'wait', '--timeout', '2s');
      expect(run).toMatchObject({ code: 6, stdout: 'waiting\n' });
      const [, id = ''] = /session logs -f (session_\w+)/.exec(run.stderr) ?? [];
      for (const command of [
        ['wait', id],
        ['logs', '-f', id],
      ])
        expect((await sallyport('session', ...command, '--timeout', '1s')).code).toBe(6);

      await bridge.stop('SIGKILL');
      bridge = await startBridge();
      expect(await sallyport('session', 'wait', id)).toMatchObject({
        code: 1,
        stdout: `${id} stopped (its bridge was killed)\n`,
      });
      expect((await sallyport('session', 'show', id)).stdout).toMatch(
        /Status: +stopped \(its bridge was killed\)\n/,
      );
    });
  });
});
