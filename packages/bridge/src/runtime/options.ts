import type { Ids, Log, Random, Reporter, TokenSource } from '@sallyport/core';
import type { ClientOptions } from '@sallyport/core/client';
import type { ChangesShown } from './changes.ts';
import type { RunEnd, RuntimeEvent } from './events.ts';
import type { Executor } from './executor.ts';
import type { KeepLimits } from './workspace/kept.ts';
import type { WorktreePolicy } from './workspace/workspaces.ts';

/** What a bridge needs; the client's options say where the service is and how it is reached. */
export interface BridgeRuntimeOptions extends ClientOptions {
  readonly tokens: TokenSource;
  /** The trusted device token of this machine; `forceRefresh` asks for a new one after the service refused it. */
  readonly deviceToken: TokenSource;
  /** Sent as `x-environment-runner-version`. */
  readonly runnerVersion: string;
  /** Absolute; the environment's directory, in which sessions run. */
  readonly directory: string;
  /** The friendly machine name. Default: the host's name. */
  readonly name?: string;
  /** The environment to be the bridge of: a managed one, say. Default: the one of this directory, from before or new. */
  readonly environmentId?: string;
  /** Added to the environment's metadata (`platform`, `arch` are set). */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** What runs a session: a command of the shell, or an executor of the caller's own. */
  readonly run: string | Executor;
  /** What runs other kinds of work than `session`, by their `data.type`; each is for a session, too, which `data.id` names. */
  readonly executors?: Readonly<Record<string, Executor>>;
  /** Sessions at the same time. Default 4. */
  readonly maxSessions?: number;
  /** Absolute; where this machine's bridges remember their environment and their processes (mode 0700). */
  readonly stateDir: string;
  /** End after one session. */
  readonly once?: boolean;
  /** Remove the environment's registration at the end. */
  readonly remove?: boolean;
  /** Keep a session's standard input open after its initial events. */
  readonly interactive?: boolean;
  /** What becomes of worktrees after their session. Default `changed`: those with commits or changes of their own stay. */
  readonly worktrees?: WorktreePolicy;
  /**
   * How much of what a session changed in its sources goes into its log at its end, for who is not on this machine: all
   * (default), the names of the files, or nothing.
   */
  readonly changes?: ChangesShown;
  /** How much of sessions that are over stays before the bridge removes what is elsewhere as well. */
  readonly keep?: Partial<KeepLimits>;
  /** A command of the shell that is run after each session, for a minute at most; README.md names its variables. */
  readonly onEnd?: string;
  /** Variables that a session's process gets although they look secret. */
  readonly envPass?: readonly string[];
  /** What session processes inherit from. Default: `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** How the ingress token comes from step 1. Default: it is the `worker_jwt` itself. */
  readonly deriveIngressToken?: (workerJwt: string) => string;
  readonly random?: Random;
  readonly ids?: Ids;
  readonly log?: Log;
  readonly reporter?: Reporter;
  /** Told what happens, as it happens. Must not throw. */
  readonly on?: (event: RuntimeEvent) => void;
}

/** How a run ended. */
export interface RunResult {
  /** `environment_deleted`: the service has no such environment any more; `device_revoked`: it trusts this machine no more. */
  readonly reason: 'stopped' | 'once' | RunEnd;
  /** Whether `kill` cut it short. */
  readonly killed: boolean;
}
