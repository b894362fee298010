import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { allowedProtocols, GitError, runGit, type Git, type GitCall } from './git.ts';
import { isLocalAddress } from './git-source.ts';
import type { Submodule } from './record.ts';
import { nestedRepositories } from './worktree-git.ts';

interface Place {
  readonly directory: string;
  /** In the worktree; empty: the worktree itself. */
  readonly path: string;
  /** Whether what is here came from this machine: only then it may name repositories of this machine. */
  readonly isLocal: boolean;
}

/**
 * Checks out the submodules of a worktree, and theirs, at the commits that are recorded; gives them, outer ones first. What
 * `.gitmodules` does not name is left as git leaves it, and so is what the person's own configuration leaves out
 * (`submodule.<name>.active`, `.update`). Rejects with `GitError`.
 */
export async function checkOutSubmodules(
  { directory, isLocal }: Pick<Place, 'directory' | 'isLocal'>,
  call: Omit<GitCall, 'directory' | 'env'>,
): Promise<readonly Submodule[]> {
  try {
    return await checkOutWithin({ directory, isLocal, path: '' }, call);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new GitError(`its submodules cannot be checked out: ${error.message}`, { cause: error });
  }
}

async function checkOutWithin(
  { directory, path, isLocal }: Place,
  call: Omit<GitCall, 'directory' | 'env'>,
): Promise<readonly Submodule[]> {
  if (!existsSync(join(directory, '.gitmodules'))) return [];
  const env = {
    GIT_ALLOW_PROTOCOL: allowedProtocols({ isLocal }),
    GIT_LITERAL_PATHSPECS: '1',
    // Not `init`, which writes addresses into the configuration that all worktrees share.
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'submodule.active',
    GIT_CONFIG_VALUE_0: '.',
  };
  const git: Git = (...args) => runGit(args, { ...call, directory, env });
  const named = await namedIn(git);
  const within = (await nestedRepositories(git)).filter((each) => named.has(each));
  if (within.length === 0) return [];
  await git('submodule', '--quiet', 'update', '--', ...within);
  const found: Submodule[] = [];
  for (const inner of within) {
    const place = join(directory, inner);
    if (!existsSync(join(place, '.git'))) continue;
    const at: Git = (...args) => runGit(args, { ...call, directory: place });
    const [gitDir = '', commit = ''] = (await at('rev-parse', '--absolute-git-dir', 'HEAD')).split('\n');
    const address = (await at('config', '--get', 'remote.origin.url')).trim();
    // It is of this worktree alone: in it the session's own `git submodule` is to know those within.
    if (existsSync(join(place, '.gitmodules'))) await at('config', 'submodule.active', '.');
    const submodule = { path: join(path, inner), git_dir: gitDir, commit };
    const deeper = { directory: place, path: submodule.path, isLocal: isLocalAddress(address) };
    found.push(submodule, ...(await checkOutWithin(deeper, call)));
  }
  return found;
}

/** The paths that `.gitmodules` has an address for: a repository that was added without one has none. */
async function namedIn(git: Git): Promise<ReadonlySet<string>> {
  const lines = await git('config', '--blob', 'HEAD:.gitmodules', '-z', '--list');
  return new Set(
    lines.split('\0').flatMap((line) => /^submodule\.[^\n]*\.path\n([^]+)$/.exec(line)?.[1] ?? []),
  );
}
