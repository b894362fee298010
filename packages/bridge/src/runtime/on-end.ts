import type { Clock } from '@sallyport/core';
import type { EnvironmentOptions } from './environment.ts';
import type { EndReason } from './events.ts';
import type { Exit } from './executor.ts';
import { shellExecutor } from './process.ts';

/** How long a hook may take: the session's slot waits for it. */
const limitMs = 60_000;
const mostOutput = 4 * 1024;

/** What a hook is told of the session that ended. */
export interface EndedSession extends Exit {
  readonly sessionId: string;
  readonly workId: string;
  readonly environmentId: string;
  /** Where it ran; its worktrees are still there. */
  readonly directory: string;
  readonly reason: EndReason;
}

/** How the hook ended, with the end of what it printed. */
export interface HookEnd extends Exit {
  readonly output: string;
}

export type EndHook = (ended: EndedSession) => Promise<HookEnd>;

/**
 * Runs `command` by the shell after each session, in its directory, with `SALLYPORT_EXIT_CODE` or `SALLYPORT_SIGNAL`, and
 * `SALLYPORT_REASON`, beside the variables that the session's command had. After a minute it is killed with its tree.
 */
export function shellHook(command: string, environment: EnvironmentOptions, clock: Clock): EndHook {
  return async ({ exitCode, signal, reason, ...session }) => {
    const inherited = {
      ...environment.inherited,
      SALLYPORT_REASON: reason,
      ...(exitCode !== null && { SALLYPORT_EXIT_CODE: String(exitCode) }),
      ...(signal !== null && { SALLYPORT_SIGNAL: signal }),
    };
    let output = '';
    const execution = shellExecutor({ command, environment: { ...environment, inherited }, clock })({
      ...session,
      emit: (_, { text }) =>
        (output = `${output}${typeof text === 'string' ? text : ''}\n`.slice(-mostOutput)),
    });
    execution.endInput();
    const timer = clock.after(limitMs, () => execution.signal('SIGKILL'), { keepAlive: true });
    try {
      return { ...(await execution.ended), output: output.trim() };
    } finally {
      timer.cancel();
    }
  };
}
