import {
  silentLog,
  type AccountEmails,
  type Clock,
  type Ids,
  type Log,
  type Random,
  type Timer,
  type Wakeups,
} from '@sallyport/core';
import { defaultBridgeConfig, workTerms, type BridgeConfig } from './config.ts';
import type { Context } from './context.ts';
import { createEnvironments, type Environments } from './environments.ts';
import { createHandshake, type Handshake } from './handshake.ts';
import { HintStreams } from './hint-streams.ts';
import { Leases } from './lease.ts';
import type { BridgeStore, TrustedDevices, WorkerTokens } from './ports.ts';
import { createPresence } from './presence.ts';
import { PollQueue } from './queue.ts';
import type { Counts } from './reads.ts';
import { createRegistry, type Registry } from './registry.ts';
import { sweepLogs } from './retention.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { UnseenDeletions } from './unseen-deletions.ts';
import { createWorkDesk, type WorkDesk } from './work.ts';
import { WorkerStreams } from './worker-streams.ts';

export interface BridgeEngineOptions {
  readonly store: BridgeStore;
  readonly accounts: AccountEmails;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly wakeups: Wakeups;
  readonly workerTokens: WorkerTokens;
  readonly devices: TrustedDevices;
  /** Absolute address that workers are sent to, without a slash at its end. */
  readonly apiBaseUrl: string;
  readonly config?: Partial<BridgeConfig>;
  readonly log?: Log;
}

/** Environments, work, sessions and workers, without HTTP and SQL. The members are the areas of the contract. */
export interface BridgeEngine {
  readonly bridge: Pick<Registry, 'register' | 'unregister' | 'leave' | 'list'> &
    Pick<HintStreams, 'open'> &
    WorkDesk;
  readonly sessions: Sessions;
  readonly worker: Handshake;
  readonly environments: Environments;
  /** Gives running work time to come back, then begins to judge what lapses. */
  start(): Promise<void>;
  /** Answers held polls with null, hands out nothing more, and sends workers away; resolves when their streams are closed. */
  drain(): Promise<void>;
  /** Ends the timer and writes what is known only here. */
  stop(): Promise<void>;
  /** What is open in this process. */
  stats(): { readonly workerStreams: number; readonly hintStreams: number; readonly heldPolls: number };
  /** What the store has; when an environment was seen may be behind by `presenceWriteSeconds`. */
  counts(): Promise<Counts>;
}

/** Composes the engine over its ports. */
export function createBridgeEngine(options: BridgeEngineOptions): BridgeEngine {
  const { store, clock, workerTokens, apiBaseUrl, log = silentLog } = options;
  const config = { ...defaultBridgeConfig, ...options.config };
  const context: Context = {
    store,
    accounts: options.accounts,
    clock,
    random: options.random,
    ids: options.ids,
    wakeups: options.wakeups,
    config,
    terms: workTerms(config),
    presence: createPresence(store.acts, clock, config),
    devices: options.devices,
    log,
  };
  const queue = new PollQueue(context);
  const registry = createRegistry(context, { apiBaseUrl, queue });
  const streams = new WorkerStreams(context, workerTokens);
  const hints = new HintStreams(context, registry);
  const leases = new Leases(context, streams);
  const deletions = new UnseenDeletions(context, queue);

  let timer: Timer | undefined;
  let sweptAt = clock.monotonic();
  let sweeping: Promise<void> | undefined;
  let logsSweptAt = sweptAt;
  let sweepingLogs: Promise<void> | undefined;
  const stopping = new AbortController();

  function arm(): void {
    timer = clock.after(config.tickSeconds * 1000, tick);
  }

  function tick(): void {
    arm();
    queue.tick();
    deletions.tick();
    streams.tick();
    hints.tick();
    const now = clock.monotonic();
    if (sweepingLogs === undefined && now - logsSweptAt >= config.retentionSweepSeconds * 1000) {
      logsSweptAt = now;
      sweepingLogs = sweepLogs(context, stopping.signal)
        .catch((error: unknown) => log.error({ err: error }, 'Old session logs could not be removed.'))
        .finally(() => (sweepingLogs = undefined));
    }
    if (sweeping !== undefined || now - sweptAt < config.sweepSeconds * 1000) return;
    sweptAt = now;
    sweeping = leases
      .sweep()
      .catch((error: unknown) => log.error({ err: error }, 'Leases could not be swept.'))
      .finally(() => (sweeping = undefined));
  }

  return {
    bridge: {
      ...createWorkDesk(context, { registry, queue, streams }),
      register: (...input) => registry.register(...input),
      leave: (...input) => registry.leave(...input),
      list: (...input) => registry.list(...input),
      open: (...input) => hints.open(...input),
      unregister: (...input) => registry.unregister(...input),
    },
    sessions: createSessions(context, { registry, queue }),
    worker: createHandshake(context, { registry, streams, workerTokens, apiBaseUrl }),
    environments: createEnvironments(context, { registry, queue }),

    async start() {
      await leases.grace();
      arm();
    },

    async drain() {
      queue.drain();
      await Promise.all([streams.drain(), hints.drain()]);
    },

    async stop() {
      timer?.cancel();
      stopping.abort();
      await Promise.all([sweeping, sweepingLogs]);
      await streams.writeRenewals('all');
      await context.presence.write('all');
    },

    stats: () => ({ workerStreams: streams.size, hintStreams: hints.size, heldPolls: queue.held }),

    counts() {
      const since = (seconds: number) => clock.now() - seconds * 1000;
      return store.reads.counts({
        onlineSince: since(config.onlineSeconds),
        disconnectedSince: since(config.offlineSeconds),
        listedSince: since(config.hiddenSeconds),
      });
    },
  };
}
