import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Git } from './git.ts';
import type { CheckedOut, Submodule } from './record.ts';
import { gitIn, nestedRepositories, submoduleTree, treeOf, type TreeCall } from './worktree-git.ts';

/**
 * What a session left in its worktrees, the less the earlier: `saved` are commits that are elsewhere as well, `commits` are
 * nowhere else, `changes` are files that no commit has. Files that git ignores count as nothing.
 */
export type Left = 'nothing' | 'saved' | 'commits' | 'changes';

const order: readonly Left[] = ['nothing', 'saved', 'commits', 'changes'];

/** Of several the one that matters most. */
export function mostOf(several: readonly Left[]): Left {
  return order.findLast((each) => several.includes(each)) ?? 'nothing';
}

/**
 * What is left in one source's worktree and its submodules. `isCache`: its repository is the bridge's own cache, where no
 * person looks for a branch. Rejects with `GitError` where it cannot be told.
 */
export async function leftIn(
  source: CheckedOut,
  { isCache, ...call }: TreeCall & { readonly isCache: boolean },
): Promise<Left> {
  const { branch, base, directory, submodules = [] } = source;
  const git = gitIn(await treeOf(source, call), call);
  const ours = submodules.map(({ path }) => path);
  if (await hasChanges(git, directory, '', ours)) return 'changes';
  const heads = (await git('rev-parse', 'HEAD', `refs/heads/${branch}`)).trim().split('\n');
  const elsewhere = isCache ? ['--remotes'] : [`--exclude=${branch}`, '--branches', '--remotes', '--tags'];
  const ofSubmodules = await Promise.all(
    submodules.map((submodule) => leftInSubmodule(submodule, directory, ours, call)),
  );
  const isMoved = heads.some((head) => head !== base);
  const own = isMoved ? await commitsOf(git, heads, [base], elsewhere) : 'nothing';
  return mostOf([own, ...ofSubmodules]);
}

async function leftInSubmodule(
  submodule: Submodule,
  worktree: string,
  ours: readonly string[],
  call: TreeCall,
): Promise<Left> {
  const { path, commit } = submodule;
  const tree = submoduleTree(submodule, worktree);
  if (!tree) return 'changes';
  const git = gitIn(tree, call);
  if (await hasChanges(git, worktree, path, ours)) return 'changes';
  const head = (await git('rev-parse', 'HEAD')).trim();
  // All that it has goes with the worktree: its branches and what was stashed, too.
  const left = await commitsOf(git, ['--all', head], [commit], ['--remotes']);
  return left === 'saved' && head === commit ? 'nothing' : left;
}

async function commitsOf(
  git: Git,
  here: readonly string[],
  known: readonly string[],
  elsewhere: readonly string[],
): Promise<Left> {
  const only = await git('rev-list', '--max-count=1', ...here, '--not', ...known, ...elsewhere, '--');
  return only === '' ? 'saved' : 'commits';
}

/** `ours`: the repositories within that were checked out with the worktree, and are looked at by themselves. */
async function hasChanges(
  git: Git,
  worktree: string,
  path: string,
  ours: readonly string[],
): Promise<boolean> {
  const others = (await nestedRepositories(git))
    .map((inner) => join(path, inner))
    .filter((inner) => !ours.includes(inner));
  if (others.some((inner) => existsSync(join(worktree, inner, '.git')))) return true;
  const status = ['--porcelain', '--untracked-files=normal', '--ignore-submodules=dirty'];
  return (await git('status', ...status)) !== '';
}
