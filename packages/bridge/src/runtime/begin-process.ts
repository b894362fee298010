import { identify } from '@sallyport/core/process-identity';
import type { EventData } from '../protocol/events.ts';
import type { Context } from './context.ts';
import type { Execution, Executor, Job } from './executor.ts';
import type { Place } from './places.ts';
import type { BridgeState, SessionRecord } from './state.ts';
import type { Workspace } from './workspace/workspaces.ts';

export interface BeginOptions {
  readonly context: Context;
  readonly state: BridgeState;
  readonly executor: Executor;
  readonly record: SessionRecord;
  readonly place: Place;
  readonly isInteractive: boolean;
  /** What the process says. */
  readonly emit: Job['emit'];
  /** What its worker says of it. */
  readonly report: Job['emit'];
}

/** Begins a session's process in its place, and leaves word of it for a later bridge in the same tick. */
export function beginProcess(options: BeginOptions): Execution {
  const { context, state, executor, record, place, isInteractive, report } = options;
  const emit = isInteractive ? options.emit : notingQuestions(options.emit);
  const { session_id: sessionId, work_id: workId, environment_id: environmentId } = record;
  const { directory, workspace, unknownSources } = place;
  // The intent first: a bridge that dies between the two lines finds the process by its environment.
  state.saveSession(record);
  const execution = executor({ sessionId, workId, environmentId, directory, emit });
  const { pid } = execution;
  try {
    const process = pid === undefined ? undefined : identify(pid);
    if (process) state.saveSession({ ...record, process });
  } catch (error) {
    execution.signal('SIGKILL');
    execution.ended.catch(() => undefined); // an embedder's may fail, and nobody waits for it
    throw error;
  }
  for (const kind of unknownSources)
    emit('session.output', { stream: 'stderr', text: `a source of the kind ${kind} is passed over` });
  if (workspace) {
    report('worker.workspace', { ...workspaceData(workspace) });
    context.emit({ type: 'session.workspace', sessionId, directory });
  }
  report('worker.ready', { ...(pid !== undefined && { pid }), interactive: isInteractive });
  context.emit({ type: 'session.started', sessionId, workId, pid });
  return execution;
}

/** Who asks and cannot hear the answer is told so once: else nobody would know what it waits for. */
function notingQuestions(emit: Job['emit']): Job['emit'] {
  let isTold = false;
  return (type, data) => {
    emit(type, data);
    if (isTold || type !== 'tool.permission_request') return;
    isTold = true;
    const text = 'no answer can reach the command: its input is closed; run the bridge with --interactive';
    emit('session.output', { stream: 'stderr', text });
  };
}

function workspaceData({ directory, sources }: Workspace): EventData['worker.workspace'] {
  return {
    directory,
    sources: sources.map(({ url, revision, branch, base }) => ({
      url,
      ...(revision !== undefined && { revision }),
      branch,
      commit: base,
    })),
  };
}
