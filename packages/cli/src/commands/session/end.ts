import { finalStatuses, SessionStatus, type SessionEvent } from '@sallyport/core/contract';
import { printable } from '../../io/printable.ts';

/** How a session ended; of `exit_code` and `signal` at most one is there. */
export interface SessionEnd {
  readonly status: SessionStatus;
  readonly reason?: string;
  readonly exit_code?: number;
  readonly signal?: string;
}

/** Whether that status is one that the session keeps. */
export function isFinal(status: SessionStatus): boolean {
  return finalStatuses.includes(status);
}

/** Looks at a session's events in order; gives its end with the event that ends it. */
export function endWatch(): (event: SessionEvent) => SessionEnd | undefined {
  let exit: Pick<SessionEnd, 'exit_code' | 'signal'> = {};
  return ({ type, data }) => {
    if (type === 'worker.exited') exit = exitOf(data);
    if (type !== 'session.updated') return undefined;
    const status = SessionStatus.safeParse(data['status']);
    if (!status.success || !isFinal(status.data)) return undefined;
    return { status: status.data, ...exit, ...causeOf(data) };
  };
}

/** What the `data` of `session.updated` or `worker.exited` says of the cause. */
export function causeOf(data: SessionEvent['data']): Omit<SessionEnd, 'status'> {
  const reason = data['reason'];
  return { ...(typeof reason === 'string' && { reason }), ...exitOf(data) };
}

function exitOf({ exit_code: code, signal }: SessionEvent['data']): Pick<SessionEnd, 'exit_code' | 'signal'> {
  if (typeof code === 'number') return { exit_code: code };
  return typeof signal === 'string' ? { signal } : {};
}

const reasons: Readonly<Record<string, string>> = {
  worker_lost: 'its bridge was lost',
  undeliverable: 'no bridge took its work',
  log_full: 'its log was full of what its worker did not take',
  bridge_stopped: 'its bridge was stopped',
  bridge_killed: 'its bridge was killed',
};

/** Why it ended, in words; `undefined`: there is nothing to say. */
export function whyEnded({
  reason,
  exit_code: code,
  signal,
}: Omit<SessionEnd, 'status'>): string | undefined {
  if (reason !== undefined) return reasons[reason] ?? printable(reason);
  if (signal !== undefined) return `ended by ${printable(signal)}`;
  return code === undefined || code === 0 ? undefined : `exit code ${code}${ofShell[code] ?? ''}`;
}

/** What a shell ends with for a command that it cannot start (POSIX, Shell Command Language 2.8.2). */
const ofShell: Readonly<Record<number, string>> = {
  126: ": the command may not be executed on the bridge's machine",
  127: ": it could not be started on the bridge's machine",
};
