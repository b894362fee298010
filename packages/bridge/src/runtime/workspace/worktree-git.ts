import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { GitError, runGit, type Git, type GitCall } from './git.ts';
import type { CheckedOut, Submodule } from './record.ts';

/**
 * Git for a session's worktree. What the session left there is not asked where the repository is: a `.git` of its making could
 * name one whose configuration runs programs, here, outside of whatever the session was shut up in.
 */
export async function worktreeGit(
  source: Pick<CheckedOut, 'repository' | 'directory'>,
  call: Omit<GitCall, 'directory'>,
): Promise<Git> {
  const { directory } = source;
  const place = await gitDirectoryOf(source, call);
  return (...args) =>
    runGit([`--git-dir=${place}`, `--work-tree=${directory}`, ...args], { ...call, directory });
}

/** Git for a submodule that was checked out with the session's worktree; as above it is told where the commits are. */
export function submoduleGit(
  { path, git_dir: place }: Submodule,
  worktree: string,
  call: Omit<GitCall, 'directory'>,
): Git {
  const directory = join(worktree, path);
  return (...args) =>
    runGit([`--git-dir=${place}`, `--work-tree=${directory}`, ...args], { ...call, directory });
}

/**
 * The repositories within a worktree that its index has as submodules, by path. Git asks those by programs of their own
 * configuration, so nobody may have it look into them.
 */
export async function nestedRepositories(git: Git): Promise<readonly string[]> {
  return (await git('ls-files', '--stage', '-z'))
    .split('\0')
    .flatMap((line) => /^160000 [^\t]*\t([^]+)$/.exec(line)?.[1] ?? []);
}

/** Where the repository keeps what is of this worktree alone: its index, and the commits of its submodules. */
export async function gitDirectoryOf(
  { repository, directory }: Pick<CheckedOut, 'repository' | 'directory'>,
  call: Omit<GitCall, 'directory'>,
): Promise<string> {
  const asked = ['rev-parse', '--path-format=absolute', '--git-common-dir'];
  const common = (await runGit(asked, { ...call, directory: repository })).trim();
  const place = placeOf(directory, join(common, 'worktrees'));
  if (place === undefined) throw new GitError(`${directory} is no worktree of ${repository}`);
  return place;
}

function placeOf(directory: string, worktrees: string): string | undefined {
  try {
    const sought = realpathSync(directory);
    return readdirSync(worktrees)
      .map((name) => join(worktrees, name))
      .find((place) => worktreeAt(place) === sought);
  } catch {
    return undefined; // one of them is gone
  }
}

function worktreeAt(place: string): string | undefined {
  try {
    return realpathSync(dirname(resolve(place, readFileSync(join(place, 'gitdir'), 'utf8').trim())));
  } catch {
    return undefined; // one that is gone, or never was whole
  }
}
