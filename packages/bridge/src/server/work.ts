import type { WorkState } from '@sallyport/core/contract';
import { timing, wake, type Context } from './context.ts';
import { environmentDeleted } from './environment-errors.ts';
import type { WorkerProof } from './acts.ts';
import type { Poll } from './poll.ts';
import type { PollQueue } from './queue.ts';
import type { Caller } from './records.ts';
import type { Registry } from './registry.ts';
import { stopTopic } from './topics.ts';
import type { WorkerStreams } from './worker-streams.ts';

export interface WorkReference {
  readonly environmentId: string;
  readonly workId: string;
}

export type WorkStatus = {
  readonly id: string;
  readonly state: WorkState;
};

/**
 * What a bridge does with work items. All throw `not_found` and `forbidden` of the environment, and all but `stop`
 * `device_revoked` where the machine that registered it is trusted no more.
 */
export interface WorkDesk {
  /** Resolves once the poll has its place in the queue. */
  poll(
    caller: Caller,
    request: {
      readonly environmentId: string;
      readonly blockMs?: number | undefined;
      readonly types?: readonly string[] | undefined;
      readonly capacity?: number | undefined;
    },
  ): Promise<Poll>;
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
  /** Repeatable in every state, also for who created the session. With the worker's token it confirms the end. */
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
  const { store, presence, devices } = context;

  return {
    async poll(caller, { environmentId, blockMs = 0, types = ['session'], capacity }) {
      const since = devices.changes;
      const { archivedAt, registration } = await registry.trusted(caller, environmentId);
      if (archivedAt !== null) throw environmentDeleted('archived');
      presence.seen(environmentId);
      const { workerKey } = caller;
      const device = { id: registration.deviceId, since };
      return queue.poll({ environmentId, workerKey, types, blockMs, device, takesWork: capacity !== 0 });
    },

    async ack(caller, { environmentId, workId }) {
      await registry.trusted(caller, environmentId);
      presence.seen(environmentId);
      const { workerKey } = caller;
      const acked = await store.acts.ackWork({ environmentId, workId, workerKey, ...timing(context) });
      wake(context, acked);
      return { id: workId, state: acked.state };
    },

    async reconnect(caller, { environmentId, sessionId, proof }) {
      await registry.trusted(caller, environmentId);
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
      // Also where no bridge is registered: what waits there can be stopped. Whoever may start something may end it.
      const creator = await store.reads.workCreator({ environmentId, workId });
      await registry[creator === caller.accountId ? 'visible' : 'owned'](caller, environmentId);
      const stopped = await store.acts.stopWork({ environmentId, workId, ...stop, ...timing(context) });
      wake(context, stopped);
      context.wakeups.notify(stopTopic(environmentId));
      return { id: workId, state: stopped.state };
    },
  };
}
