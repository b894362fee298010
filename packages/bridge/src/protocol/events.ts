import type { SessionStatus } from '@sallyport/core/contract';
import { streamFrameTypes } from './frames.ts';

/** The event types that both halves know, with the shape of their `data`. An unknown type is stored and passed on. */
export interface EventData {
  /** A person's message to the worker; `session run PROMPT` puts its prompt here. */
  'session.message': { readonly text: string };
  /** The service's: the session's status changed. The three last ones are final. */
  'session.updated': {
    readonly status: SessionStatus;
    readonly reason?: string;
    readonly exit_code?: number;
  };
  /**
   * A piece of the process's output: `text`, or `base64` where it is not UTF-8. `text` is a line without the newline at its
   * end, or several with newlines between them.
   */
  'session.output': {
    readonly stream: 'stdout' | 'stderr';
    readonly text?: string;
    readonly base64?: string;
    /** The line went on past the limit: this is a part of it, or the rest was cut after `bytes`. */
    readonly partial?: boolean;
    readonly truncated?: boolean;
    readonly bytes?: number;
  };
  /** The session's git sources are checked out: where, and which commit the branch of its own began at. */
  'worker.workspace': {
    readonly directory: string;
    readonly sources: readonly {
      readonly url: string;
      readonly revision?: string;
      readonly branch: string;
      readonly commit: string;
    }[];
  };
  /** A piece of the patch of one source, by its place among them; the `worker.changes` that it belongs to comes after it. */
  'worker.patch': { readonly source: number; readonly text?: string; readonly base64?: string };
  /** What the session changed in its sources; the pieces of its patches came before it. */
  'worker.changes': { readonly sources: readonly (SourceChanges | UnknownChanges)[] };
  /** The process asks whether it may use a tool; it waits for a `control.permission_response` on its standard input. */
  'tool.permission_request': {
    readonly request_id: string;
    readonly tool: string;
    /** What it would do, in words for a person. */
    readonly description?: string;
    readonly input?: Readonly<Record<string, unknown>>;
  };
  /** A person's answer, or a program's for one; the first that is in the log counts. */
  'control.permission_response': {
    readonly request_id: string;
    readonly behavior: 'allow' | 'deny';
  };
  'worker.ready': {
    readonly pid?: number;
    /** Whether the process hears what is sent from now on; an older bridge does not say. */
    readonly interactive?: boolean;
  };
  /** The process is gone; confirms the end of the work. Exactly one of the two is not null. */
  'worker.exited': { readonly exit_code: number | null; readonly signal: string | null };
  /** Asks the worker to end the process: SIGINT, SIGTERM at half of the deadline, SIGKILL of the tree at the deadline. */
  'control.stop': { readonly force: boolean; readonly deadline_ms: number };
  'control.interrupt': Readonly<Record<string, unknown>>;
  /** Asks the worker what the session has changed by now; `worker.changes` is the answer. */
  'control.changes': Readonly<Record<string, unknown>>;
  /** Text for the process's standard input. */
  'control.input': { readonly text: string };
}

/** One source of a session, and the branch and the commit at which it began. */
interface ChangedSource {
  readonly url: string;
  readonly branch: string;
  readonly base: string;
}

/** A file that differs; without counts it is a binary one. */
export interface ChangedFile {
  readonly path: string;
  /** What it was called before. */
  readonly from?: string;
  /** Lines. */
  readonly added?: number;
  readonly removed?: number;
}

/** All that a session changed in one source, in commits and without. */
export interface SourceChanges extends ChangedSource {
  /** The commit that its worktree is at. */
  readonly head?: string;
  /** As many as the bound lets. */
  readonly files: readonly ChangedFile[];
  /** Of all. */
  readonly file_count: number;
  /** Lines, in all files. */
  readonly added: number;
  readonly removed: number;
  /** Of all pieces together. */
  readonly patch_bytes: number;
  /** The patch went on. */
  readonly truncated?: true;
  /** Its bridge is told to keep the patch to itself. */
  readonly withheld?: true;
  /** A secret is replaced by `***`: the patch may not apply. */
  readonly redacted?: true;
}

/** Git could not tell, and why. */
export interface UnknownChanges extends ChangedSource {
  readonly error: string;
}

/** From `control.stop` to SIGKILL of the tree. */
export const stopDeadlineMs = 10_000;

/** Only the service says how a session stands: followers trust these. */
const serviceEventTypes = ['session.created', 'session.updated'] as const;

const reservedTypes: ReadonlySet<string> = new Set([...serviceEventTypes, ...streamFrameTypes]);

/** Whether neither worker nor client may send an event of this type. */
export function isReservedEventType(type: string): boolean {
  return reservedTypes.has(type);
}

/** Whether no client may: a worker's own reports, or `control.stop`, which the stop endpoint sends and keeps track of. */
export function isReservedForClients(type: string): boolean {
  return isReservedEventType(type) || type === 'control.stop' || type.startsWith('worker.');
}

/** Whether no process that a worker runs may: what its runtime and the service say to each other. */
export function isReservedForProcesses(type: string): boolean {
  return isReservedEventType(type) || /^(worker|control)\./.test(type);
}
