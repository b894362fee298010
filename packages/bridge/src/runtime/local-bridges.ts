import { BridgeState, knownBridges } from './state.ts';
import { diffOf, type Difference, type DiffOptions } from './workspace/diff.ts';
import { recordsOf, toWorkspace } from './workspace/workspaces.ts';

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
    };
  });
}

function workspaceOf({ folder }: BridgeState, sessionId: string): LocalWorkspace | undefined {
  const record = recordsOf(folder).get(sessionId);
  if (!record?.is_ready) return undefined;
  const { directory, sources } = toWorkspace(record);
  return { directory, diff: (options) => Promise.all(sources.map((source) => diffOf(source, options))) };
}
