import type { WorkState } from '@sallyport/core/contract';
import { timing, wake, type Context } from './context.ts';
import { environmentDeleted } from './environment-errors.ts';
import type { WorkerProof } from './acts.ts';
import type { PollQueue } from './queue.ts';
import type { Caller } from './records.ts';
import type { Registry } from './registry.ts';
import { stopTopic } from './topics.ts';
import type { WorkerStreams } from './worker-streams.ts';

/** Two that poll in one name would take turns as fast as they can. */
const supersededMs = 5_000;

export type WorkItem = {
  readonly id: string;
  readonly data: { readonly type: string; readonly id: string };
};

export interface PollAnswer {
  readonly work: WorkItem | null;
  /** What the caller should wait before its next poll. */
  readonly nextPollMs: number;
  /** A newer poll of the same worker took its place: of another process, if its caller still hears this. */
  readonly isSuperseded: boolean;
  /** To be called when the answer did not reach its caller. */
  giveBack(): Promise<void>;
}

export interface WorkReference {
  readonly environmentId: string;
  readonly workId: string;
}

export type WorkStatus = {
  readonly id: string;
  readonly state: WorkState;
};

/** What a bridge does with work items. All throw `not_found` and `forbidden` of the environment. */
export interface WorkDesk {
  poll(
    caller: Caller,
    request: {
      readonly environmentId: string;
      readonly blockMs?: number | undefined;
      readonly types?: readonly string[] | undefined;
      readonly capacity?: number | undefined;
      readonly signal: AbortSignal;
    },
  ): Promise<PollAnswer>;
  /** Throws `ack_already_processed` or `work_stopped`. */
  ack(caller: Caller, work: WorkReference): Promise<WorkStatus>;
  /**
   * After a disconnect: work without a live worker is queued again. Throws `session_active` while a live worker holds it,
   * unless `proof` is that worker's, and `session_ended`.
   */
  reconnect(
    caller: Caller,
    session: {
      readonly environmentId: string;
      readonly sessionId: string;
      readonly proof: WorkerProof | null;
    },
  ): Promise<{ readonly environment_id: string; readonly session_id: string; readonly state: WorkState }>;
  /** Repeatable in every state. With the worker's token it confirms the end. */
  stop(
    caller: Caller,
    work: WorkReference & {
      readonly force: boolean;
      /** Told with the session's end. */
      readonly reason?: string | undefined;
      readonly proof: WorkerProof | null;
    },
  ): Promise<WorkStatus>;
}

export function createWorkDesk(
  context: Context,
  parts: { readonly registry: Registry; readonly queue: PollQueue; readonly streams: WorkerStreams },
): WorkDesk {
  const { registry, queue, streams } = parts;
  const { store, presence, random } = context;

  return {
    async poll(caller, { environmentId, blockMs = 0, types = ['session'], capacity, signal }) {
      const { archivedAt } = await registry.held(caller, environmentId);
      if (archivedAt !== null) throw environmentDeleted('archived');
      presence.seen(environmentId);
      const takesWork = capacity !== 0;
      const { workerKey } = caller;
      const claimed = await queue.poll({ environmentId, workerKey, types, blockMs, takesWork, signal });
      const isSuperseded = claimed === 'superseded';
      if (claimed === null || isSuperseded)
        return {
          work: null,
          nextPollMs: Math.floor((isSuperseded ? supersededMs : 0) + random.fraction() * 1001),
          isSuperseded,
          giveBack: () => Promise.resolve(),
        };
      return {
        work: { id: claimed.id, data: { type: claimed.type, id: claimed.sessionId } },
        nextPollMs: 0,
        isSuperseded: false,
        giveBack: () => queue.giveBack(claimed),
      };
    },

    async ack(caller, { environmentId, workId }) {
      await registry.held(caller, environmentId);
      presence.seen(environmentId);
      const { workerKey } = caller;
      const acked = await store.acts.ackWork({ environmentId, workId, workerKey, ...timing(context) });
      wake(context, acked);
      return { id: workId, state: acked.state };
    },

    async reconnect(caller, { environmentId, sessionId, proof }) {
      await registry.held(caller, environmentId);
      presence.seen(environmentId);
      // The judgement is by stored times: a frame that is known only here must count.
      await streams.writeRenewals('all');
      const provenEpoch = proof?.sessionId === sessionId ? proof.epoch : null;
      const work = await store.acts.reconnectSession({
        environmentId,
        sessionId,
        provenEpoch,
        ...timing(context),
      });
      wake(context, work);
      return { environment_id: environmentId, session_id: sessionId, state: work.state };
    },

    async stop(caller, { environmentId, workId, ...stop }) {
      // Also where no bridge is registered: what waits there can be stopped.
      await registry.owned(caller, environmentId);
      const stopped = await store.acts.stopWork({ environmentId, workId, ...stop, ...timing(context) });
      wake(context, stopped);
      context.wakeups.notify(stopTopic(environmentId));
      return { id: workId, state: stopped.state };
    },
  };
}
