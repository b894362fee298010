import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { systemClock } from '@sallyport/core';
import { describe, expect, test } from 'vitest';
import { localBridges } from './local-bridges.ts';
import { temporaryFolder, type Bench } from './testing/bench.ts';
import { git, repository, source } from './testing/repository.ts';
import { useBench } from './testing/use-bench.ts';

const { service, start } = useBench();

const commit =
  'git -c user.name=T -c user.email=t@e commit --quiet --allow-empty -m "mine $SALLYPORT_SESSION_ID"';
const branch = 'sallyport/$SALLYPORT_SESSION_ID';
const leave = {
  changes: 'touch new',
  commits: commit,
  saved: `${commit} && git push --quiet origin HEAD:${branch}`,
};

/** A person's clone, whose remote takes what is pushed. */
function clone(): string {
  const directory = join(temporaryFolder(), 'clone');
  git('/', 'clone', '--quiet', repository(), directory);
  return directory;
}

/** Runs sessions one after the other with one bridge, and ends it. */
async function run(
  commands: readonly string[],
  options: Partial<ConstructorParameters<typeof Bench>[1]>,
  origin = '.',
): Promise<Bench> {
  const script = commands.map((command, index) => `*_${index}) ${command};;`).join(' ');
  const name = origin === '.' ? 'session' : `session_${basename(origin)}`;
  const bench = start({ run: `case $SALLYPORT_SESSION_ID in ${script} esac`, ...options });
  for (const index of commands.keys()) {
    service.sources = [source(origin)];
    service.grantSession(`${name}_${index}`);
    await bench.until('session.ended', index + 1);
  }
  return bench;
}

const foldersOf = ({ stateDir }: Bench, name: string) =>
  readdirSync(stateDir).flatMap((key) => {
    const folder = join(stateDir, key, name);
    return existsSync(folder) ? readdirSync(folder) : [];
  });
const worktreesOf = (bench: Bench) => foldersOf(bench, 'worktrees');

describe('of sessions that are over', () => {
  test('the oldest go first beyond the limit, if all of them is elsewhere; work is never removed', async () => {
    const directory = clone();
    const bench = await run(
      [leave.changes, leave.saved, leave.commits, leave.saved, leave.saved, leave.changes],
      { directory, keep: { sessions: 4 } },
    );
    const gone = await bench.until('session.workspace_removed', 2);
    expect(gone.sessionId).toBe('session_3');
    expect(worktreesOf(bench).sort()).toEqual(['session_0', 'session_2', 'session_4', 'session_5']);
    expect(
      git(directory, 'branch', '--list', '--format=%(refname:lstrip=3)', 'sallyport/*').split('\n'),
    ).toEqual(['session_0', 'session_2', 'session_4', 'session_5']);
    expect(bench.of('workspaces_full')).toEqual([]);
  });

  test('more than the limit stays where it is nowhere else, and that is told', async () => {
    const bench = await run([leave.changes, leave.commits], { directory: repository(), keep: { bytes: 1 } });
    const told = await bench.until('workspaces_full', 2);
    expect(told.sessions).toBe(2);
    expect(told.bytes).toBeGreaterThan(1000);
    expect(worktreesOf(bench)).toHaveLength(2);
  });

  test.each([
    ['a tag of its own', 'git tag mine'],
    ['another branch', 'git branch mine'],
  ])('commits of the environment itself are elsewhere by %s', async (_, saving) => {
    const options = { directory: repository(), keep: { sessions: 0 } };
    const bench = await run([`${commit}; ${saving}`, commit], options);
    expect((await bench.until('session.workspace_removed')).sessionId).toBe('session_0');
    expect(git(options.directory, 'log', '-1', '--format=%s', 'mine')).toBe('mine session_0');
    expect(worktreesOf(bench)).toEqual(['session_1']);
  });

  test('a branch in a cache is nowhere else, since nobody looks for it there', async () => {
    const bench = await run(
      [`${commit}; git branch mine`, leave.saved],
      { keep: { sessions: 0 } },
      `file://${repository()}`,
    );
    expect((await bench.until('session.workspace_removed')).sessionId).toMatch(/_1$/);
    expect(worktreesOf(bench)).toEqual([expect.stringMatching(/_0$/)]);
  });

  test('one that is granted again is in use, and is no such one any more', async () => {
    const options = { directory: clone(), stateDir: temporaryFolder() };
    await (await run([leave.saved], options)).stop();
    const look = () => localBridges(options.stateDir)[0]!.leftovers(systemClock).sessions;
    const [before] = look();
    expect(await before!.left()).toBe('saved');
    const again = start({
      ...options,
      run: 'git log -1 --format=%s; read -r x; read -r x',
      interactive: true,
    });
    service.grantSession('session_0');
    expect((await again.until('session.output')).text).toBe('mine session_0');
    expect(look()).toEqual([]);
    expect(await before!.remove()).toBe(false);
    await again.stop();
    expect(look()).toHaveLength(1);
  });
});

test.each(['the worktree', 'what git knows of it', 'the repository'])(
  'where %s is gone, nobody can tell what was left',
  async (what) => {
    const directory = clone();
    const bench = await run([leave.changes], { directory });
    await bench.stop();
    const [session] = localBridges(bench.stateDir)[0]!.leftovers(systemClock).sessions;
    const gone = {
      'the worktree': session!.directory,
      'what git knows of it': join(directory, '.git', 'worktrees'),
      'the repository': directory,
    }[what]!;
    rmSync(gone, { recursive: true });
    expect(await session!.bytes()).toBeGreaterThanOrEqual(0);
    expect(await session!.left()).toBeUndefined();
    expect(await session!.remove()).toBe(true);
  },
);

describe('fetched repositories', () => {
  test('that nobody needs go, the least recently used first; never the last used, nor one with work', async () => {
    const [a, b, c] = [repository(), repository(), repository()];
    const stateDir = temporaryFolder();
    const directory = temporaryFolder();
    for (const [origin, command] of [
      [a, 'true'],
      [b, 'touch new'],
      [c, 'true'],
    ] as const) {
      const bench = await run([command], { stateDir, directory }, `file://${origin}`);
      await bench.stop();
    }
    const bench = start({ stateDir, directory, run: 'true', keep: { bytes: 1 } });
    await bench.until('workspaces_full');
    expect(foldersOf(bench, 'repositories')).toHaveLength(2);
    await bench.stop();

    const [bridge] = localBridges(stateDir);
    const left = bridge!.leftovers(systemClock);
    const before = await left.repositoryBytes();
    const freed = await left.removeRepositories();
    expect(freed).toBeGreaterThan(0);
    expect(await left.repositoryBytes()).toBe(before - freed);
    expect(foldersOf(bench, 'repositories')).toHaveLength(1);
    const [session] = left.sessions;
    expect(await session!.left()).toBe('changes');
    expect(await session!.bytes()).toBeGreaterThan(0);
    expect(await session!.remove()).toBe(true);
    expect(await session!.remove()).toBe(false);
    expect(existsSync(dirname(session!.directory))).toBe(false);
    expect(await left.removeRepositories()).toBeGreaterThan(0);
    expect(foldersOf(bench, 'repositories')).toEqual([]);
  });

  test('have what was fetched before: the next session gets only what is new', async () => {
    const origin = repository();
    writeFileSync(join(origin, 'big'), 'x'.repeat(10_000));
    git(origin, 'add', '.');
    git(origin, 'commit', '--quiet', '-m', 'big');
    const stateDir = temporaryFolder();
    const directory = temporaryFolder();
    await (await run(['true'], { stateDir, directory }, `file://${origin}`)).stop();
    git(origin, 'commit', '--quiet', '--allow-empty', '-m', 'small');
    const trace = join(temporaryFolder(), 'trace');
    process.env['GIT_TRACE_PACKET'] = trace;
    try {
      await (await run(['true'], { stateDir, directory }, `file://${origin}`)).stop();
    } finally {
      delete process.env['GIT_TRACE_PACKET'];
    }
    expect(readFileSync(trace, 'utf8')).toMatch(/fetch> have /);
  });
});
