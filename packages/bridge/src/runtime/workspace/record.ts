import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '@sallyport/core/directory';
import { replaceFileSync } from '@sallyport/core/replace-file';

/** One source of a session, checked out. */
export interface CheckedOut {
  readonly url: string;
  readonly revision?: string;
  /** The repository that the worktree is of. */
  readonly repository: string;
  readonly directory: string;
  readonly branch: string;
  /** The commit at which the session began. */
  readonly base: string;
  /** Outer ones first. */
  readonly submodules?: readonly Submodule[];
}

/** A repository within a worktree, which was checked out with it. */
export interface Submodule {
  /** In the worktree. */
  readonly path: string;
  /** Where its commits are: beside those of its worktree, and no place of the session's. */
  readonly git_dir: string;
  /** At which the session began. */
  readonly commit: string;
}

/** The workspace of a session: written before anything of it is made. */
export interface WorkspaceRecord {
  readonly session_id: string;
  readonly work_id: string;
  /** All worktrees are in it. */
  readonly root: string;
  readonly sources: readonly CheckedOut[];
  /** All of `sources` are checked out, and none is missing. */
  readonly is_ready: boolean;
  /** It has been looked at after its session's end, and stays. */
  readonly is_kept?: true;
  /** Since when, in milliseconds. */
  readonly kept_at?: number;
  /** What it took on the disk then, once that was measured. */
  readonly bytes?: number;
}

/** The records of one bridge's workspaces, `FOLDER/<session id>.json`. */
export class WorkspaceRecords {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get all(): readonly WorkspaceRecord[] {
    try {
      return readdirSync(this.#folder)
        .filter((name) => name.endsWith('.json'))
        .map((name) => this.get(name.slice(0, -'.json'.length)))
        .filter((record) => record !== undefined);
    } catch {
      return []; // none was ever made
    }
  }

  get(sessionId: string): WorkspaceRecord | undefined {
    try {
      const record = JSON.parse(readFileSync(this.#file(sessionId), 'utf8')) as Partial<WorkspaceRecord>;
      return Array.isArray(record.sources) ? (record as WorkspaceRecord) : undefined;
    } catch {
      return undefined;
    }
  }

  save(record: WorkspaceRecord): void {
    makeDirectory(this.#folder);
    replaceFileSync(this.#file(record.session_id), JSON.stringify(record));
  }

  remove(sessionId: string): void {
    rmSync(this.#file(sessionId), { force: true });
  }

  #file(sessionId: string): string {
    return join(this.#folder, `${sessionId}.json`);
  }
}
