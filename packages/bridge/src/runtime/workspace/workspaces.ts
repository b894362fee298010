import { join } from 'node:path';
import type { Clock, Log } from '@sallyport/core';
import { makeDirectory } from '@sallyport/core/directory';
import { toError } from '../failure.ts';
import type { Mark } from '../process-tree.ts';
import { differencesOf, type DiffOptions } from './diff.ts';
import { GitError } from './git.ts';
import { repositoryName, type GitSource } from './git-source.ts';
import { Kept, type KeepLimits, type KeptTotal } from './kept.ts';
import { WorkspaceRecords, type CheckedOut, type WorkspaceRecord } from './record.ts';
import { explained } from './source-failure.ts';
import { Turns } from './turns.ts';
import { Worktrees } from './worktrees.ts';

/** What becomes of a session's worktrees at its end; `changed`: those with commits or changes of their own stay. */
export type WorktreePolicy = 'keep' | 'remove' | 'changed';

export interface WorkspacesOptions {
  /** The bridge's own folder, absolute. */
  readonly folder: string;
  /** The environment's directory. */
  readonly directory: string;
  readonly policy: WorktreePolicy;
  readonly limits: KeepLimits;
  readonly clock: Clock;
  readonly log: Log;
  /** Told after something was kept. */
  readonly onKept: (total: KeptTotal) => void;
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
  readonly #worktrees: Worktrees;
  readonly #kept: Kept;
  readonly #turns = new Turns();
  readonly #closed = new AbortController();
  #tending: Promise<void> | undefined;
  #mustTend = false;

  constructor(options: WorkspacesOptions) {
    this.#options = options;
    this.#records = recordsOf(options.folder);
    this.#worktrees = new Worktrees(options);
    const { clock } = options;
    this.#kept = new Kept({ records: this.#records, worktrees: this.#worktrees, turns: this.#turns, clock });
  }

  /**
   * Checks a session's sources out. One that an earlier attempt left here goes on as it is. Rejects with `GitError`, or with
   * the signal's reason; what was made by then is gone.
   */
  prepare(mark: Mark, sources: readonly GitSource[], signal: AbortSignal): Promise<Workspace> {
    return this.#turns.alone(mark.sessionId, async () => {
      const known = this.#records.get(mark.sessionId);
      if (known?.is_ready) {
        const { is_kept: _kept, kept_at: _at, bytes: _bytes, ...inUse } = known;
        this.#records.save(inUse);
        return toWorkspace(inUse);
      }
      if (known) await this.#remove(known);
      return toWorkspace(await this.#make(mark, sources, signal));
    });
  }

  /** What a session has changed, source by source, as far as git can tell; `undefined`: it has no workspace. */
  differences(
    sessionId: string,
    options: DiffOptions,
  ): Promise<Awaited<ReturnType<typeof differencesOf>> | undefined> {
    return this.#turns.alone(sessionId, async () => {
      const record = this.#records.get(sessionId);
      return record?.is_ready ? differencesOf(record.sources, options) : undefined;
    });
  }

  /** After the session's end: gives the folder of what stays, by the policy; what cannot be judged stays. */
  settle(sessionId: string): Promise<string | undefined> {
    return this.#turns.alone(sessionId, async () => {
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
      this.#kept.add(record);
      this.#tend();
      return toWorkspace(record).directory;
    });
  }

  /** Settles what an earlier bridge on these files left, which was killed. */
  async settleLeftovers(): Promise<void> {
    for (const { session_id: id, is_kept: isKept } of this.#records.all) if (!isKept) await this.settle(id);
    this.#tend();
  }

  /** Resolves when nothing is measured or removed any more; what was not done the next start does. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#tending;
  }

  async #make(mark: Mark, sources: readonly GitSource[], signal: AbortSignal): Promise<WorkspaceRecord> {
    const { sessionId, workId } = mark;
    const root = join(this.#options.folder, 'worktrees', sessionId);
    let record: WorkspaceRecord = {
      session_id: sessionId,
      work_id: workId,
      root,
      sources: [],
      is_ready: false,
    };
    const save = (change: Partial<WorkspaceRecord>) => {
      record = { ...record, ...change };
      this.#records.save(record);
    };
    save({});
    makeDirectory(root);
    try {
      for (const [index, source] of sources.entries()) {
        const before = record.sources;
        const taken = before.map(({ directory }) => directory);
        const directory = freePath(join(root, repositoryName(source.url)), taken);
        const branch = `sallyport/${sessionId}${index === 0 ? '' : `-${index + 1}`}`;
        const keep = (made: CheckedOut) => save({ sources: [...before, made] });
        await this.#worktrees
          .checkOut(source, { directory, branch, mark, signal }, keep)
          .catch((error: unknown) => {
            throw error instanceof GitError ? explained(source, error) : error;
          });
      }
      save({ is_ready: true });
      return record;
    } catch (error) {
      await this.#remove(record).catch((cause: unknown) => this.#warn(cause, sessionId));
      throw error;
    }
  }

  async #mustStay(record: WorkspaceRecord): Promise<boolean> {
    const { policy } = this.#options;
    if (!record.is_ready || policy === 'remove') return false;
    return policy === 'keep' || (await this.#worktrees.left(record)) !== 'nothing';
  }

  async #remove(record: WorkspaceRecord): Promise<void> {
    await this.#worktrees.remove(record);
    this.#records.remove(record.session_id);
  }

  /** Beside the sessions: no end of one waits for what others left. */
  #tend(): void {
    this.#mustTend = true;
    this.#tending ??= this.#tendNow()
      .catch((error: unknown) => {
        if (this.#closed.signal.aborted) return;
        this.#options.log.warn({ err: toError(error) }, 'what sessions left could not be looked through');
      })
      .finally(() => (this.#tending = undefined));
  }

  async #tendNow(): Promise<void> {
    const { limits, onKept } = this.#options;
    while (this.#mustTend && !this.#closed.signal.aborted) {
      this.#mustTend = false;
      onKept(await this.#kept.limit(limits, this.#closed.signal));
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
