import type { EventData } from '../protocol/events.ts';

/** Why a session is over here; `superseded`: another worker has it. */
export type EndReason = 'exited' | 'stopped' | 'superseded' | 'session_ended';

/** What ends a bridge for good: it can never work again as it is. */
export type RunEnd = 'environment_deleted' | 'device_revoked';

/** Why a bridge ends the work that it has, as the service is told. */
export type StopReason = 'bridge_stopped' | 'bridge_killed';

/** What a running bridge tells its embedder. Waits are in milliseconds. */
export type RuntimeEvent =
  /** `resumed`: it is the environment of this bridge's last registration; `instead`: that one, which the service has not any more. */
  | {
      readonly type: 'registered';
      readonly environmentId: string;
      readonly resumed: boolean;
      readonly instead?: string;
    }
  /** The link to the service works: at the start, and again after `offline`, `login_required` or `refused`. */
  | { readonly type: 'polling'; readonly environmentId: string }
  /** Another bridge holds the environment. */
  | { readonly type: 'occupied'; readonly environmentId: string | undefined; readonly retryInMs: number }
  /** Another process polls as this very bridge, with a copy of its files: each of them gets a part of the work. */
  | { readonly type: 'duplicated'; readonly environmentId: string }
  | { readonly type: 'offline'; readonly error: Error; readonly retryInMs: number }
  | { readonly type: 'login_required'; readonly error: Error; readonly retryInMs: number }
  | { readonly type: 'refused'; readonly error: Error; readonly retryInMs: number }
  /** Work that was offered and is not run; told once for each item. */
  | { readonly type: 'work.skipped'; readonly workId: string; readonly reason: string }
  | {
      readonly type: 'session.started';
      readonly sessionId: string;
      readonly workId: string;
      readonly pid: number | undefined;
    }
  /** The session's sources are checked out; it runs in `directory`. */
  | { readonly type: 'session.workspace'; readonly sessionId: string; readonly directory: string }
  | ({ readonly type: 'session.output'; readonly sessionId: string } & EventData['session.output'])
  /** An event that the process itself reported. */
  | {
      readonly type: 'session.event';
      readonly sessionId: string;
      readonly name: string;
      readonly data: Readonly<Record<string, unknown>>;
    }
  /** The session's stream to the service is lost; its process goes on. */
  | {
      readonly type: 'session.disconnected';
      readonly sessionId: string;
      readonly error: Error;
      readonly retryInMs: number;
    }
  | { readonly type: 'session.connected'; readonly sessionId: string }
  | {
      readonly type: 'session.ended';
      readonly sessionId: string;
      readonly workId: string;
      readonly reason: EndReason;
      readonly exitCode: number | null;
      readonly signal: string | null;
      /** The folder of its worktrees, where they stay. */
      readonly kept?: string;
    }
  /** The command that is run after each session has ended, with the end of what it printed. */
  | {
      readonly type: 'session.hook_ended';
      readonly sessionId: string;
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly output: string;
    }
  /** It had been over long enough: its worktrees are gone, and all that was in them is elsewhere as well. */
  | { readonly type: 'session.workspace_removed'; readonly sessionId: string }
  /** What sessions left is more than is to stay, and nowhere else. */
  | { readonly type: 'workspaces_full'; readonly sessions: number; readonly bytes: number }
  /** No more work is taken, and the `sessions` that run end. */
  | { readonly type: 'stopping'; readonly sessions: number }
  | { readonly type: 'removed'; readonly environmentId: string }
  /** It was to be removed and could not be: it stays, offline. */
  | { readonly type: 'not_removed'; readonly environmentId: string; readonly error: Error }
  | { readonly type: 'environment_deleted'; readonly environmentId: string }
  /** The device that the environment was registered from is trusted no more. */
  | { readonly type: 'device_revoked'; readonly environmentId: string };
