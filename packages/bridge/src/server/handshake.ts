import { deviceRevoked, ServiceError } from '@sallyport/core';
import type { NewEvent } from '@sallyport/core/contract';
import { isReservedEventType } from '../protocol/events.ts';
import type { ResumeFrom } from '../protocol/resume.ts';
import { timing, type Context } from './context.ts';
import { draftEvents, noSuchSession } from './log.ts';
import type { WorkerProof } from './acts.ts';
import type { WorkerClaims, WorkerTokens } from './ports.ts';
import type { StreamSocket } from './stream-socket.ts';
import type { Appended, Caller } from './records.ts';
import type { Registry } from './registry.ts';
import { sessionTopic } from './topics.ts';
import { judgeEpoch } from './work-judgements.ts';
import type { WorkerStreams } from './worker-streams.ts';

/** What step 1 answers with, as it goes over the wire. */
export type WorkerCredentials = {
  readonly worker_jwt: string;
  readonly api_base_url: string;
  readonly worker_epoch: number;
};

/** The three steps that give a worker its stream. Each throws `device_revoked` where its machine is trusted no more. */
export interface Handshake {
  /** Step 1. With the present worker's token its epoch stays; else it rises, and the old worker is fenced. */
  takeOver(
    caller: Caller,
    sessionId: string,
    options: { readonly workerToken?: string | undefined },
  ): Promise<WorkerCredentials>;
  /** Step 2; throws `stale_epoch`. Repeatable. */
  register(worker: WorkerClaims, sessionId: string): Promise<{ readonly status: 'registered' }>;
  /** Step 3, before the upgrade: may still throw. What it gives takes the socket. */
  open(
    worker: WorkerClaims,
    sessionId: string,
    options: { readonly from: ResumeFrom },
  ): Promise<(socket: StreamSocket) => void>;
  /**
   * Appends a worker's events where it has no WebSocket to send them over; without any it is a sign of life. Throws
   * `stale_epoch`, and `session_ended` where events come after the end: `details.events` are those that were taken.
   */
  append(
    worker: WorkerClaims,
    sessionId: string,
    given: { readonly events: readonly NewEvent[]; readonly takenSeq: number | undefined },
  ): Promise<{ readonly events: readonly Appended[] }>;
  /** Whom a worker token proves its sender to be; null for none, and for one that does not hold. */
  prove(workerToken: string | undefined): Promise<WorkerProof | null>;
}

export function createHandshake(
  context: Context,
  options: {
    readonly registry: Registry;
    readonly streams: WorkerStreams;
    readonly workerTokens: WorkerTokens;
    readonly apiBaseUrl: string;
  },
): Handshake {
  const { store, presence, wakeups, devices } = context;
  const { registry, streams, workerTokens, apiBaseUrl } = options;

  /** A worker's token ends with the trust in the machine that its bridge was registered from. */
  async function requireTrusted({ deviceId }: WorkerClaims): Promise<void> {
    if (deviceId !== undefined && !(await devices.stands(deviceId))) throw deviceRevoked();
  }

  async function prove(workerToken: string | undefined): Promise<WorkerProof | null> {
    if (workerToken === undefined) return null;
    try {
      const { sessionId, epoch } = await workerTokens.verify(workerToken);
      return { sessionId, epoch };
    } catch (error) {
      if (error instanceof ServiceError && error.status === 401) return null;
      throw error;
    }
  }

  return {
    prove,

    async takeOver(caller, sessionId, { workerToken }) {
      streams.refuseWhileDraining();
      const session = await store.reads.session({ sessionId });
      if (session?.organizationId !== caller.organizationId) throw noSuchSession(sessionId);
      if (session.seen === null)
        throw new ServiceError('session_ended', "The session's environment is gone.");
      const { registration } = await registry.trusted(caller, session.environmentId);
      presence.seen(session.environmentId);
      const proof = await prove(workerToken);
      const provenEpoch = proof?.sessionId === sessionId ? proof.epoch : null;
      const { epoch, hasNewWorker } = await store.acts.takeOverSession({ sessionId, provenEpoch });
      if (hasNewWorker) wakeups.notify(sessionTopic(sessionId));
      const token = await workerTokens.mint({
        sessionId,
        environmentId: session.environmentId,
        workerId: caller.workerKey,
        epoch,
        grantId: caller.grantId,
        deviceId: registration.deviceId,
      });
      return { worker_jwt: token, api_base_url: apiBaseUrl, worker_epoch: epoch };
    },

    async register(worker, sessionId) {
      await requireTrusted(worker);
      refuseOtherSession(worker, sessionId);
      const head = await store.reads.sessionHead({ sessionId });
      if (!head) throw noSuchSession(sessionId);
      judgeEpoch(head.epoch, worker.epoch);
      presence.seen(worker.environmentId);
      return { status: 'registered' };
    },

    async append(worker, sessionId, { events, takenSeq = 0 }) {
      await requireTrusted(worker);
      refuseOtherSession(worker, sessionId);
      const { epoch } = worker;
      const drafts = draftEvents(events, context.ids, isReservedEventType);
      const appended = await store.acts.appendEvents({
        sessionId,
        from: { epoch },
        events: drafts,
        ...timing(context),
      });
      presence.seen(worker.environmentId);
      await store.acts.renewWorkers({
        renewals: [{ sessionId, epoch, at: context.clock.now(), takenSeq }],
        leaseMs: context.terms.leaseMs,
      });
      // Its stream, here or elsewhere, learns by this that the worker lives.
      wakeups.notify(sessionTopic(sessionId));
      if (appended.length < events.length)
        throw new ServiceError('session_ended', 'The session has ended: it takes no further events.', {
          details: { events: appended },
        });
      return { events: appended };
    },

    async open(worker, sessionId, { from }) {
      streams.refuseWhileDraining();
      const deviceSince = devices.changes;
      await requireTrusted(worker);
      refuseOtherSession(worker, sessionId);
      const { epoch } = worker;
      const log = await store.acts.attachWorker({ sessionId, epoch, ...timing(context) });
      wakeups.notify(sessionTopic(sessionId));
      return (socket) => streams.add(worker, socket, { log, from, deviceSince });
    },
  };
}

/** A worker's token opens its own session only; that others exist is not told. */
function refuseOtherSession(worker: WorkerClaims, sessionId: string): void {
  if (worker.sessionId !== sessionId) throw noSuchSession(sessionId);
}
