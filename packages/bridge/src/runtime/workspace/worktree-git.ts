import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { GitError, readGit, runGit, type Git, type GitCall, type TakeOutput } from './git.ts';
import type { CheckedOut, Submodule } from './record.ts';

/**
 * Where a worktree and what git has of it are. What the session left there is not asked where the repository is: a `.git` of
 * its making could name one whose configuration runs programs, here, outside of whatever the session was shut up in.
 */
export interface Tree {
  readonly directory: string;
  readonly gitDir: string;
}

export type TreeCall = Omit<GitCall, 'directory'>;

export async function treeOf(
  source: Pick<CheckedOut, 'repository' | 'directory'>,
  call: TreeCall,
): Promise<Tree> {
  return { directory: source.directory, gitDir: await gitDirectoryOf(source, call) };
}

/**
 * That of a submodule which was checked out with the session's worktree; `undefined`: there is no folder in its place. A link
 * would lead out of the worktree, to what the session may not be able to read.
 */
export function submoduleTree({ path, git_dir: gitDir }: Submodule, worktree: string): Tree | undefined {
  const directory = join(worktree, path);
  try {
    const isInPlace = realpathSync(directory) === join(realpathSync(worktree), path);
    return isInPlace ? { directory, gitDir } : undefined;
  } catch {
    return undefined; // it is gone
  }
}

export function gitIn(tree: Tree, call: TreeCall): Git {
  const { directory } = tree;
  return (...args) => runGit([...placeOptions(tree), ...args], { ...call, directory });
}

/** Git's output as it comes: `readGit` in a worktree. */
export function readGitIn(
  tree: Tree,
  call: TreeCall,
): (args: readonly string[], take: TakeOutput) => Promise<void> {
  const { directory } = tree;
  return (args, take) => readGit([...placeOptions(tree), ...args], { ...call, directory }, take);
}

function placeOptions({ directory, gitDir }: Tree): readonly string[] {
  // What the session lets stand for another object would hide what it changed.
  return ['--no-replace-objects', `--git-dir=${gitDir}`, `--work-tree=${directory}`];
}

/**
 * The repositories within a worktree that its index has as submodules, by path. Git asks those by programs of their own
 * configuration, so nobody may have it look into them. Throws `GitError` where the index has what is not in the worktree: git
 * writes no such index, but reads it, and what is there.
 */
export async function nestedRepositories(git: Git): Promise<readonly string[]> {
  const staged = await git('ls-files', '--stage', '-z');
  if (outside.test(staged)) throw new GitError('the index has a path that leads out of the worktree');
  return staged.split('\0').flatMap((line) => /^160000 [^\t]*\t([^]+)$/.exec(line)?.[1] ?? []);
}

/** A path of which a segment is empty, `.` or `..`. */
const outside = /(?:(?:^|\0)\d+ [0-9a-f]+ \d\t|\/)\.{0,2}[\0/]/;

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
    if (!lstatSync(directory).isDirectory()) return undefined; // a link in its place
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
    const file = join(place, 'gitdir');
    // Who may write there could leave a pipe, which nobody writes into.
    if (!lstatSync(file).isFile()) return undefined;
    return realpathSync(dirname(resolve(place, readFileSync(file, 'utf8').trim())));
  } catch {
    return undefined; // one that is gone, or never was whole
  }
}
