import { createIds, silentLog, silentReporter, systemRandom, type Clock } from '@sallyport/core';
import { createClient } from '@sallyport/core/client';
import type { Context } from './context.ts';
import type { EnvironmentOptions } from './environment.ts';
import type { Executor } from './executor.ts';
import { Hints } from './hints.ts';
import { shellHook, type EndHook } from './on-end.ts';
import type { BridgeRuntimeOptions } from './options.ts';
import { Places } from './places.ts';
import { Poller } from './poller.ts';
import { shellExecutor } from './process.ts';
import { Registration } from './registration.ts';
import { outageReports } from './report.ts';
import { secretsOf } from './secrets.ts';
import { Sessions } from './sessions.ts';
import type { BridgeState } from './state.ts';
import { StreamChoice } from './stream-choice.ts';
import { defaultLimits } from './workspace/kept.ts';
import { Workspaces } from './workspace/workspaces.ts';

const defaultMaxSessions = 4;

/** What a run is made of. */
export interface Parts {
  readonly context: Context;
  readonly registration: Registration;
  readonly workspaces: Workspaces;
  readonly sessions: Sessions;
  readonly poller: Poller;
  readonly hints: Hints;
}

/** What comes from the runtime itself. */
interface Run extends Pick<Context, 'killed' | 'gone'> {
  readonly state: BridgeState;
  readonly clock: Clock;
}

/** Makes the parts of one run, and joins them: what one is told, the other acts on. */
export function assemble(options: BridgeRuntimeOptions, run: Run): Parts {
  const { state, clock } = run;
  const { directory } = options;
  const context = createContext(options, run);
  const hints = new Hints({
    context,
    onWork: () => poller.hinted(),
    onStop: (workId) => sessions.stopHinted(workId),
  });
  const registration = new Registration({
    ...options,
    context,
    state,
    onHintsAt: (url) => hints.follow(url),
  });
  const limits = { ...defaultLimits, ...options.keep };
  const workspaces = new Workspaces({
    folder: state.folder,
    directory,
    policy: options.worktrees ?? 'changed',
    limits,
    clock,
    log: context.log,
    onKept: ({ sessions: count, bytes, removed }) => {
      for (const { session_id: sessionId } of removed)
        context.emit({ type: 'session.workspace_removed', sessionId });
      if (count > limits.sessions || bytes > limits.bytes)
        context.emit({ type: 'workspaces_full', sessions: count, bytes });
    },
  });
  const sessions = new Sessions({
    context,
    state,
    executors: { ...options.executors, session: sessionExecutor(options, clock) },
    onEnd: endHook(options, clock),
    isInteractive: options.interactive ?? false,
    places: new Places({ context, directory, workspaces }),
    tellChanges: {
      shown: options.changes ?? 'patch',
      secrets: secretsOf(environmentOf(options).inherited),
    },
    maxSessions: options.maxSessions ?? defaultMaxSessions,
    onFreed: () => poller.freed(),
    onConnected: () => poller.connected(),
  });
  const poller = new Poller({ context, registration, sessions, once: options.once ?? false });
  return { context, registration, workspaces, sessions, poller, hints };
}

function createContext(options: BridgeRuntimeOptions, { state, clock, killed, gone }: Run): Context {
  const { random = systemRandom, reporter = silentReporter, log = silentLog, on, ...rest } = options;
  const { ids = createIds(clock, random), deriveIngressToken = (workerJwt: string) => workerJwt } = rest;
  const clientOptions = { ...rest, clock };
  const reportOf = outageReports();
  return {
    client: createClient(clientOptions),
    clientOptions,
    clock,
    random,
    ids,
    log,
    workerId: state.pointer?.worker_id ?? ids.uuid(),
    deriveIngressToken,
    streams: new StreamChoice(clock),
    killed,
    gone,
    emit: (event) => {
      on?.(event);
      const report = reportOf(event);
      if (report) reporter.report(report);
    },
  };
}

function sessionExecutor(options: BridgeRuntimeOptions, clock: Clock): Executor {
  const { run } = options;
  if (typeof run !== 'string') return run;
  return shellExecutor({ command: run, environment: environmentOf(options), clock });
}

function endHook(options: BridgeRuntimeOptions, clock: Clock): EndHook | undefined {
  const { onEnd } = options;
  return onEnd === undefined ? undefined : shellHook(onEnd, environmentOf(options), clock);
}

function environmentOf({
  environment = process.env,
  envPass = [],
}: BridgeRuntimeOptions): EnvironmentOptions {
  return { inherited: environment, pass: envPass };
}
