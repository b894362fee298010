import { existsSync, readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '@sallyport/core';
import type { Mark } from '../process-tree.ts';
import { GitError, runGit, type Git, type GitCall } from './git.ts';
import { withoutCredentials, type GitSource } from './git-source.ts';
import { leftIn, mostOf, type Left } from './left.ts';
import type { CheckedOut, WorkspaceRecord } from './record.ts';
import { cacheOf, findOwn, openCache, resolveCommit } from './repository.ts';
import { checkOutSubmodules } from './submodules.ts';
import { Turns } from './turns.ts';
import { gitDirectoryOf } from './worktree-git.ts';

/** The longest that one call of git may take to bring a repository here, and to do anything else. */
const fetchMs = 10 * 60_000;
const localMs = 60_000;

export interface WorktreesOptions {
  /** The bridge's own folder, absolute. */
  readonly folder: string;
  /** The environment's directory. */
  readonly directory: string;
  readonly clock: Clock;
}

/** Where one source of a session goes. */
export interface Place {
  readonly directory: string;
  readonly branch: string;
  readonly mark: Mark;
  readonly signal: AbortSignal;
}

/** A repository that keeps what was fetched for the next session. */
export interface Cache {
  readonly directory: string;
  /** When a session's worktree was last made from it, in milliseconds. */
  readonly usedAt: number;
}

/** What git does for workspaces, in the environment's repository and in those of the bridge. */
export class Worktrees {
  readonly #options: WorktreesOptions;
  readonly #turns = new Turns();

  constructor(options: WorktreesOptions) {
    this.#options = options;
  }

  /** Makes the worktree of a source. `intend` is told before anything is made, and again of what is complete. */
  async checkOut(
    source: GitSource,
    { directory, branch, mark, signal }: Place,
    intend: (made: CheckedOut) => void,
  ): Promise<void> {
    const gitAt = (place: string, timeoutMs = localMs) => this.#gitAt(place, { timeoutMs, mark, signal });
    const { directory: around, clock } = this.#options;
    const own = await findOwn(source, around, gitAt(around));
    const repository = own ?? cacheOf(source.url, this.#caches);
    await this.#turns.alone(repository.directory, async () => {
      signal.throwIfAborted();
      if (repository.isCache) await openCache(repository, gitAt, new Date(clock.now()));
      const git = gitAt(repository.directory, fetchMs);
      const base = await resolveCommit(repository, source, git, `refs/sallyport/fetched/${mark.sessionId}`);
      const made: CheckedOut = {
        url: withoutCredentials(source.url),
        ...(source.revision !== undefined && { revision: source.revision }),
        repository: repository.directory,
        directory,
        branch,
        base,
      };
      intend(made);
      await git('worktree', 'add', '--quiet', '--force', '-B', branch, '--', directory, base);
      const call = { clock, mark, signal, timeoutMs: fetchMs };
      const submodules = await checkOutSubmodules({ directory, isLocal: repository.isLocal }, call);
      if (submodules.length > 0) intend({ ...made, submodules });
    });
  }

  /** Rejects with `GitError` where it cannot be told. */
  async left({ sources }: WorkspaceRecord, signal?: AbortSignal): Promise<Left> {
    const call = { clock: this.#options.clock, timeoutMs: localMs, ...(signal && { signal }) };
    const isCache = ({ repository }: CheckedOut) => dirname(repository) === this.#caches;
    return mostOf(
      await Promise.all(sources.map((source) => leftIn(source, { ...call, isCache: isCache(source) }))),
    );
  }

  /** The folders that are of a workspace alone: its worktrees, and what git keeps of them beside. */
  async foldersOf({ sources, root }: WorkspaceRecord, signal?: AbortSignal): Promise<readonly string[]> {
    const call = { clock: this.#options.clock, timeoutMs: localMs, ...(signal && { signal }) };
    const beside = sources.map((source) => gitDirectoryOf(source, call).catch(ignoreGit));
    return [root, ...(await Promise.all(beside)).filter((folder) => folder !== '')];
  }

  /** Removes all that was made for a workspace, whatever is in it. */
  async remove({ sources, root }: WorkspaceRecord): Promise<void> {
    for (const { repository, directory, branch } of sources) {
      if (!existsSync(repository)) continue;
      await this.#turns.alone(repository, async () => {
        const git = this.#gitAt(repository);
        // Not `prune`, which takes the person's own worktrees on a disk that is not there. A torn one is none to git.
        await git('worktree', 'remove', '--force', '--force', '--', directory).catch(ignoreGit);
        await rm(directory, { recursive: true, force: true });
        await git('update-ref', '-d', `refs/heads/${branch}`);
      });
    }
    await rm(root, { recursive: true, force: true });
  }

  /** The least recently used first. */
  get caches(): readonly Cache[] {
    return namesIn(this.#caches)
      .filter((name) => name.endsWith('.git'))
      .map((name) => join(this.#caches, name))
      .map((directory) => ({
        directory,
        usedAt: statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? 0,
      }))
      .sort((one, other) => one.usedAt - other.usedAt);
  }

  /** Removes a cache that no worktree is of, and that has no commit of a session that its origin lacks; says whether. */
  async removeCache({ directory }: Cache, signal?: AbortSignal): Promise<boolean> {
    return this.#turns.alone(directory, async () => {
      if (namesIn(join(directory, 'worktrees')).length > 0) return false;
      const git = this.#gitAt(directory, signal && { signal });
      const known = ['--remotes', '--glob=refs/sallyport/*'];
      const only = await git('rev-list', '--max-count=1', '--all', '--not', ...known, '--');
      if (only !== '') return false;
      await rm(directory, { recursive: true, force: true });
      return true;
    });
  }

  get #caches(): string {
    return join(this.#options.folder, 'repositories');
  }

  #gitAt(directory: string, call: Partial<Pick<GitCall, 'timeoutMs' | 'mark' | 'signal'>> = {}): Git {
    const { clock } = this.#options;
    return (...args) => runGit(args, { directory, clock, timeoutMs: localMs, ...call });
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // there never was one
  }
}

function ignoreGit(error: unknown): string {
  if (error instanceof GitError) return '';
  throw error;
}
