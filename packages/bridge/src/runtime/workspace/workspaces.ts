import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Log } from '@sallyport/core';
import { makeDirectory } from '@sallyport/core/directory';
import { toError } from '../failure.ts';
import type { Mark } from '../process-tree.ts';
import { GitError, runGit, type Git } from './git.ts';
import { repositoryName, withoutCredentials, type GitSource } from './git-source.ts';
import { WorkspaceRecords, type CheckedOut, type WorkspaceRecord } from './record.ts';
import { findOwn, openCache, resolveCommit, type Repository } from './repository.ts';
import { nestedRepositories, worktreeGit } from './worktree-git.ts';

/** What becomes of a session's worktrees at its end; `changed`: those with commits or changes of their own stay. */
export type WorktreePolicy = 'keep' | 'remove' | 'changed';

/** The longest that one call of git may take to bring a repository here, and to do anything else. */
const fetchMs = 10 * 60_000;
const localMs = 60_000;

export interface WorkspacesOptions {
  /** The bridge's own folder, absolute. */
  readonly folder: string;
  /** The environment's directory. */
  readonly directory: string;
  readonly policy: WorktreePolicy;
  readonly clock: Clock;
  readonly log: Log;
}

/** A place that is a session's own. */
export interface Workspace {
  /** In which its command runs: the worktree of its source; of several the folder in which each has its own. */
  readonly directory: string;
  readonly sources: readonly CheckedOut[];
}

/** Makes sessions' workspaces, one worktree for each source, and clears them away. */
export class Workspaces {
  readonly #options: WorkspacesOptions;
  readonly #records: WorkspaceRecords;
  /** The end of what is under way in each repository: git's own locks fail where they could wait. */
  readonly #busy = new Map<string, Promise<unknown>>();

  constructor(options: WorkspacesOptions) {
    this.#options = options;
    this.#records = recordsOf(options.folder);
  }

  /**
   * Checks a session's sources out. One that an earlier attempt left here goes on as it is. Rejects with `GitError`, or with
   * the signal's reason; what was made by then is gone.
   */
  async prepare(mark: Mark, sources: readonly GitSource[], signal: AbortSignal): Promise<Workspace> {
    const { sessionId } = mark;
    const known = this.#records.get(sessionId);
    if (known?.is_ready) return toWorkspace(known);
    if (known) await this.#remove(known);
    const root = join(this.#options.folder, 'worktrees', sessionId);
    let record: WorkspaceRecord = {
      session_id: sessionId,
      work_id: mark.workId,
      root,
      sources: [],
      is_ready: false,
    };
    this.#records.save(record);
    makeDirectory(root);
    try {
      for (const source of sources) {
        const taken = record.sources.map(({ directory }) => directory);
        const place = { directory: freePath(join(root, repositoryName(source.url)), taken), mark, signal };
        await this.#checkOut(source, place, record.sources.length, (made) => {
          record = { ...record, sources: [...record.sources, made] };
          this.#records.save(record);
        });
      }
      record = { ...record, is_ready: true };
      this.#records.save(record);
      return toWorkspace(record);
    } catch (error) {
      await this.#remove(record).catch((cause: unknown) => this.#warn(cause, sessionId));
      throw error;
    }
  }

  /** After the session's end: gives the folder of what stays, by the policy; what cannot be judged stays. */
  async settle(sessionId: string): Promise<string | undefined> {
    const record = this.#records.get(sessionId);
    if (!record) return undefined;
    try {
      if (!(await this.#mustStay(record))) {
        await this.#remove(record);
        return undefined;
      }
    } catch (error) {
      this.#warn(error, sessionId);
    }
    this.#records.save({ ...record, is_kept: true });
    return toWorkspace(record).directory;
  }

  /** Settles what an earlier bridge on these files left, which was killed. */
  async settleLeftovers(): Promise<void> {
    for (const { session_id: id, is_kept: isKept } of this.#records.all) if (!isKept) await this.settle(id);
  }

  async #checkOut(
    source: GitSource,
    {
      directory,
      mark,
      signal,
    }: { readonly directory: string; readonly mark: Mark; readonly signal: AbortSignal },
    index: number,
    intend: (made: CheckedOut) => void,
  ): Promise<void> {
    const gitAt = (place: string, timeoutMs = localMs) => this.#gitAt(place, { timeoutMs, mark, signal });
    const repository = await this.#find(source, gitAt);
    await this.#alone(repository.directory, async () => {
      signal.throwIfAborted();
      const git = gitAt(repository.directory, fetchMs);
      const suffix = index === 0 ? '' : `-${index + 1}`;
      const branch = `sallyport/${mark.sessionId}${suffix}`;
      const base = await resolveCommit(repository, source, git, `refs/sallyport/fetched/${mark.sessionId}`);
      intend({
        url: withoutCredentials(source.url),
        ...(source.revision !== undefined && { revision: source.revision }),
        repository: repository.directory,
        directory,
        branch,
        base,
      });
      await git('worktree', 'add', '--quiet', '--force', '-B', branch, '--', directory, base);
    });
  }

  async #find(source: GitSource, gitAt: (place: string) => Git): Promise<Repository> {
    const { directory, folder } = this.#options;
    const own = await findOwn(source, directory, gitAt(directory));
    if (own) return own;
    return this.#alone(source.url, () => openCache(source.url, join(folder, 'repositories'), gitAt));
  }

  async #mustStay({ sources, is_ready: isReady }: WorkspaceRecord): Promise<boolean> {
    const { policy } = this.#options;
    if (!isReady || policy === 'remove') return false;
    if (policy === 'keep') return true;
    for (const source of sources) {
      const { directory, branch, base } = source;
      const git = await worktreeGit(source, { clock: this.#options.clock, timeoutMs: localMs });
      const heads = await git('rev-parse', 'HEAD', `refs/heads/${branch}`);
      if (
        heads
          .trim()
          .split('\n')
          .some((head) => head !== base)
      )
        return true;
      const nested = await nestedRepositories(git);
      if (nested.some((path) => existsSync(join(directory, path, '.git')))) return true;
      const status = ['--porcelain', '--untracked-files=normal', '--ignore-submodules=dirty'];
      if ((await git('status', ...status)) !== '') return true;
    }
    return false;
  }

  async #remove({ session_id: sessionId, sources, root }: WorkspaceRecord): Promise<void> {
    for (const { repository, directory, branch } of sources) {
      await this.#alone(repository, async () => {
        const git = this.#gitAt(repository);
        // Not `prune`, which takes the person's own worktrees on a disk that is not there. A torn one is none to git.
        await git('worktree', 'remove', '--force', '--force', '--', directory).catch(ignoreGit);
        await rm(directory, { recursive: true, force: true });
        await git('update-ref', '-d', `refs/heads/${branch}`);
      });
    }
    await rm(root, { recursive: true, force: true });
    this.#records.remove(sessionId);
  }

  #gitAt(
    directory: string,
    call: { readonly timeoutMs?: number; readonly mark?: Mark; readonly signal?: AbortSignal } = {},
  ): Git {
    const { clock } = this.#options;
    return (...args) => runGit(args, { directory, clock, timeoutMs: localMs, ...call });
  }

  async #alone<T>(key: string, act: () => Promise<T>): Promise<T> {
    const turn = (this.#busy.get(key) ?? Promise.resolve()).then(act);
    const over = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#busy.set(key, over);
    try {
      return await turn;
    } finally {
      if (this.#busy.get(key) === over) this.#busy.delete(key);
    }
  }

  #warn(error: unknown, sessionId: string): void {
    this.#options.log.warn(
      { err: toError(error), sessionId },
      "the session's worktrees could not be cleared away",
    );
  }
}

/** The records in a bridge's folder. */
export function recordsOf(folder: string): WorkspaceRecords {
  return new WorkspaceRecords(join(folder, 'workspaces'));
}

export function toWorkspace({ root, sources }: WorkspaceRecord): Workspace {
  const [only, ...others] = sources;
  return { directory: only && others.length === 0 ? only.directory : root, sources };
}

function freePath(path: string, taken: readonly string[]): string {
  for (let count = 1; ; count += 1) {
    const candidate = count === 1 ? path : `${path}-${count}`;
    if (!taken.includes(candidate)) return candidate;
  }
}

function ignoreGit(error: unknown): string {
  if (error instanceof GitError) return '';
  throw error;
}
