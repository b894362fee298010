import type { Clock } from '@sallyport/core';
import { BridgeState, knownBridges } from './state.ts';
import { diffOf, type Difference, type DiffOptions } from './workspace/diff.ts';
import { Kept } from './workspace/kept.ts';
import type { Left } from './workspace/left.ts';
import type { WorkspaceRecord } from './workspace/record.ts';
import { Turns } from './workspace/turns.ts';
import { recordsOf, toWorkspace } from './workspace/workspaces.ts';
import { Worktrees } from './workspace/worktrees.ts';

/** A bridge of this machine: one that runs, or one that a later start takes up again. */
export interface LocalBridge {
  readonly baseUrl: string;
  readonly directory: string;
  readonly name: string;
  /** `undefined`: it has not registered yet, or its environment was removed. */
  readonly environmentId: string | undefined;
  /** The process that runs it; a signal to it ends the bridge gracefully, a second one at once. */
  readonly pid: number | undefined;
  /** The sessions whose processes were started here and have not ended. */
  readonly sessionIds: readonly string[];
  /** Drops the environment, which is gone at the service: a later start registers a new one. */
  forget(): void;
  /** The worktrees of a session that ran here; `undefined`: it had none, or they are gone. */
  workspace(sessionId: string): LocalWorkspace | undefined;
  /** What sessions that are over left on this machine; it may be looked through and cleared while the bridge runs. */
  leftovers(clock: Clock): Leftovers;
}

/** What sessions of one bridge left, and what was fetched for them. */
export interface Leftovers {
  /** The oldest first. */
  readonly sessions: readonly LeftSession[];
  /** What the repositories take that were fetched for sessions. */
  repositoryBytes(signal?: AbortSignal): Promise<number>;
  /** Removes those repositories of which no session has a worktree, or commits of its own, or is just about to; gives the bytes. */
  removeRepositories(signal?: AbortSignal): Promise<number>;
}

/** The worktrees that stay of one session. */
export interface LeftSession {
  readonly sessionId: string;
  readonly directory: string;
  /** When its session had ended, in milliseconds. */
  readonly keptAt: number | undefined;
  bytes(signal?: AbortSignal): Promise<number>;
  /** What is in them; `undefined`: git cannot tell. */
  left(signal?: AbortSignal): Promise<Left | undefined>;
  /** Removes them, whatever is in them; `false`: the session runs again, or they are gone. */
  remove(): Promise<boolean>;
}

/** The worktrees of one session. */
export interface LocalWorkspace {
  readonly directory: string;
  /** What the session changed, source by source; rejects with `GitError`. */
  diff(options: DiffOptions): Promise<readonly Difference[]>;
}

/**
 * The bridges whose files are in `stateDir`, the same folder that `BridgeRuntime` was given. It asks nobody.
 *
 * @example
 * for (const { directory, pid } of localBridges(stateDir)) console.log(directory, pid ?? 'not running');
 */
export function localBridges(stateDir: string): readonly LocalBridge[] {
  return knownBridges(stateDir).map(({ base_url: baseUrl, directory, name }) => {
    const state = new BridgeState(stateDir, [baseUrl, directory, name]);
    return {
      baseUrl,
      directory,
      name,
      environmentId: state.pointer?.environment_id,
      pid: state.holder,
      sessionIds: state.sessions.filter((record) => record.must_end).map(({ session_id: id }) => id),
      forget: () => state.removePointer(),
      workspace: (sessionId) => workspaceOf(state, sessionId),
      leftovers: (clock) => leftoversOf(state, directory, clock),
    };
  });
}

function workspaceOf({ folder }: BridgeState, sessionId: string): LocalWorkspace | undefined {
  const record = recordsOf(folder).get(sessionId);
  if (!record?.is_ready) return undefined;
  const { directory, sources } = toWorkspace(record);
  return { directory, diff: (options) => Promise.all(sources.map((source) => diffOf(source, options))) };
}

/** The longest that a bridge takes from opening a repository to the worktree that it has of it. */
const inUseMs = 20 * 60_000;

function leftoversOf(state: BridgeState, directory: string, clock: Clock): Leftovers {
  const { folder } = state;
  const worktrees = new Worktrees({ folder, directory, clock });
  const kept = new Kept({ records: recordsOf(folder), worktrees, turns: new Turns(), clock });
  const toSession = (record: WorkspaceRecord): LeftSession => ({
    sessionId: record.session_id,
    directory: toWorkspace(record).directory,
    keptAt: record.kept_at,
    bytes: (signal) => kept.bytesOf(record, signal),
    left: (signal) => kept.left(record, signal),
    remove: () => kept.remove(record),
  });
  return {
    sessions: kept.all.map(toSession),
    repositoryBytes: (signal) => kept.cacheBytes(signal),
    removeRepositories: (signal) => {
      const isRunning = state.holder !== undefined;
      const caches = worktrees.caches.filter(({ usedAt }) => !isRunning || usedAt < clock.now() - inUseMs);
      return kept.removeCaches(Infinity, caches, signal);
    },
  };
}
