import { join } from 'node:path';
import type { Clock } from '@sallyport/core';
import { unlessGit } from './git.ts';
import type { Left } from './left.ts';
import type { WorkspaceRecord, WorkspaceRecords } from './record.ts';
import { bytesOf } from './size.ts';
import type { Turns } from './turns.ts';
import type { Cache, Worktrees } from './worktrees.ts';

/** How much may stay of sessions that are over, before what is elsewhere as well is removed, the oldest first. */
export interface KeepLimits {
  /** Sessions whose worktrees stay. Default 100. */
  readonly sessions: number;
  /** What they and the fetched repositories take together. Default 20 GiB. */
  readonly bytes: number;
}

export const defaultLimits: KeepLimits = { sessions: 100, bytes: 20 * 1024 ** 3 };

/** What there is, after what may go has gone. */
export interface KeptTotal {
  readonly sessions: number;
  readonly bytes: number;
  readonly removed: readonly WorkspaceRecord[];
}

export interface KeptOptions {
  readonly records: WorkspaceRecords;
  readonly worktrees: Worktrees;
  /** One turn at a time for each session. */
  readonly turns: Turns;
  readonly clock: Clock;
}

/** The workspaces that stay after their sessions, and the repositories that were fetched for them. */
export class Kept {
  readonly #options: KeptOptions;

  constructor(options: KeptOptions) {
    this.#options = options;
  }

  /** The oldest first. */
  get all(): readonly WorkspaceRecord[] {
    return this.#options.records.all
      .filter(({ is_kept: isKept }) => isKept)
      .sort((one, other) => (one.kept_at ?? 0) - (other.kept_at ?? 0));
  }

  /** From now on it is one of these. */
  add(record: WorkspaceRecord): void {
    const { records, clock } = this.#options;
    records.save({ ...record, is_kept: true, kept_at: clock.now() });
  }

  /** What it takes on the disk; measured once, since nobody works there any more. */
  async bytesOf(record: WorkspaceRecord, signal?: AbortSignal): Promise<number> {
    if (record.bytes !== undefined) return record.bytes;
    const { records, worktrees } = this.#options;
    let bytes = 0;
    for (const folder of await worktrees.foldersOf(record, signal)) bytes += await bytesOf(folder, signal);
    const now = records.get(record.session_id);
    if (now?.is_kept && now.kept_at === record.kept_at) records.save({ ...now, bytes });
    return bytes;
  }

  /** What was fetched takes; what git keeps there of the worktrees counts to these. */
  async cacheBytes(signal?: AbortSignal): Promise<number> {
    let bytes = 0;
    for (const { directory } of this.#options.worktrees.caches)
      bytes += (await bytesOf(directory, signal)) - (await bytesOf(join(directory, 'worktrees'), signal));
    return bytes;
  }

  /** `undefined`: git cannot tell, which counts as something. */
  async left(record: WorkspaceRecord, signal?: AbortSignal): Promise<Left | undefined> {
    return this.#options.worktrees.left(record, signal).catch(unlessGit);
  }

  /** Removes one, whatever is in it, unless its session runs again; says whether. */
  async remove({ session_id: sessionId }: WorkspaceRecord): Promise<boolean> {
    const { records, turns, worktrees } = this.#options;
    return turns.alone(sessionId, async () => {
      const record = records.get(sessionId);
      if (!record?.is_kept) return false;
      const { is_kept: _kept, ...torn } = record;
      // Who is killed now leaves what the next start takes away.
      records.save({ ...torn, is_ready: false });
      await worktrees.remove(record);
      records.remove(sessionId);
      return true;
    });
  }

  /** Keeps within the limits as far as that loses nothing. */
  async limit(
    { sessions: mostSessions, bytes: mostBytes }: KeepLimits,
    signal: AbortSignal,
  ): Promise<KeptTotal> {
    const { worktrees } = this.#options;
    const removed: WorkspaceRecord[] = [];
    const all = this.all;
    const sizes = new Map<WorkspaceRecord, number>();
    for (const record of all) sizes.set(record, await this.bytesOf(record, signal));
    let sessions = all.length;
    let bytes = (await this.cacheBytes(signal)) + [...sizes.values()].reduce((sum, each) => sum + each, 0);
    for (const [record, size] of sizes) {
      if (sessions <= mostSessions && bytes <= mostBytes) break;
      const left = await this.left(record, signal);
      if ((left !== 'nothing' && left !== 'saved') || !(await this.remove(record))) continue;
      sessions -= 1;
      bytes -= size;
      removed.push(record);
    }
    // The one that was used last is what the next session is likely to need.
    bytes -= await this.removeCaches(bytes - mostBytes, worktrees.caches.slice(0, -1), signal);
    return { sessions, bytes, removed };
  }

  /** Removes caches that nobody needs, in this order, until that has made so much room; gives the bytes. */
  async removeCaches(wanted: number, caches: readonly Cache[], signal?: AbortSignal): Promise<number> {
    let bytes = 0;
    for (const cache of caches) {
      if (bytes >= wanted) break;
      const size = await bytesOf(cache.directory, signal);
      const isGone = await this.#options.worktrees.removeCache(cache, signal).catch(unlessGit);
      if (isGone === true) bytes += size;
    }
    return bytes;
  }
}
