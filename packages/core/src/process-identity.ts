import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Names one process for good: pids are used again, so the pid alone is no proof of anything. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In the system's own unit; only compared. */
  readonly start_time: string;
  readonly boot_id: string;
}

/** The identity of the process that has this pid now; `undefined`: none has. */
export function identify(pid: number): ProcessIdentity | undefined {
  const startTime = process.platform === 'linux' ? startTimeFromProc(pid) : startTimeFromPs(pid);
  return startTime === undefined ? undefined : { pid, start_time: startTime, boot_id: bootId() };
}

export function isAlive(identity: ProcessIdentity): boolean {
  const now = identify(identity.pid);
  return now?.start_time === identity.start_time && now.boot_id === identity.boot_id;
}

function startTimeFromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // proc(5): field 2 is the command in parentheses and may hold any character; field 22 is the start.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isGone = fields[0] === 'Z' || fields[0] === 'X';
    return isGone ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function startTimeFromPs(pid: number): string | undefined {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined;
  }
}

let ownBootId: string | undefined;

function bootId(): string {
  ownBootId ??= readBootId();
  return ownBootId;
}

function readBootId(): string {
  try {
    if (process.platform === 'linux') return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return execFileSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }).trim();
  } catch {
    return ''; // the start time alone still tells reused pids apart
  }
}
