import { isAlive } from '@sallyport/core/process-identity';
import type { Context } from './context.ts';
import { judgeFailure } from './failure.ts';
import { persisting } from './persisting.ts';
import { signalGroup, sweep } from './process-tree.ts';
import type { StopReason } from './events.ts';
import type { BridgeState, SessionRecord } from './state.ts';
import { within } from './within.ts';

/** What an earlier bridge left behind: sessions that are to end, and those that never began and are to run. */
export interface Leftovers {
  readonly ended: readonly SessionRecord[];
  readonly unstarted: readonly SessionRecord[];
}

/**
 * Ends the processes that an earlier bridge on these files left behind: it was killed, lifeline and all. Goes by the
 * process's identity and by what it carries in its environment, never by a pid or a parent alone.
 */
export async function killLeftovers(state: BridgeState): Promise<Leftovers> {
  const records = state.sessions;
  for (const { process, session_id: sessionId, work_id: workId } of records) {
    if (process && isAlive(process)) signalGroup(process.pid, 'SIGKILL');
    await sweep({ sessionId, workId });
  }
  const mustEnd = (record: SessionRecord) => record.must_end === true || record.process !== undefined;
  return { ended: records.filter(mustEnd), unstarted: records.filter((record) => !mustEnd(record)) };
}

/**
 * Hands work back that was acknowledged, or may have been, and never begun: the service offers it again. What cannot be
 * handed back within `limitMs`, however often that is tried, is kept for the next start.
 */
export async function returnUnstarted(
  context: Context,
  state: BridgeState,
  records: readonly SessionRecord[],
  {
    runnerVersion,
    signal,
    limitMs = 30_000,
  }: { readonly runnerVersion: string; readonly signal: AbortSignal; readonly limitMs?: number },
): Promise<void> {
  const { client, clock, workerId, log } = context;
  const headers = { 'x-environment-runner-version': runnerVersion, 'vendor-worker-id': workerId };
  const giveBack = async ({ environment_id: environmentId, session_id: sessionId }: SessionRecord) => {
    const request = { headers, params: { env_id: environmentId }, body: { session_id: sessionId } };
    try {
      await within(clock, limitMs, signal, (ending) =>
        persisting(context, ending, () => client.bridge.reconnect({ ...request, signal: ending })),
      );
    } catch (error) {
      // Over, unknown, or of another worker that lives: nothing is ours to hand back.
      const { kind } = judgeFailure(error);
      if (kind !== 'missing' && kind !== 'conflict') {
        log.warn({ err: error, sessionId }, 'work that was never begun could not be handed back yet');
        return;
      }
    }
    state.removeSession(sessionId);
  };
  await Promise.all(records.map(giveBack));
}

/**
 * Tells the service that their work is over, within `limitMs`, while `signal` lets it. What it cannot be told now is kept
 * for the next start.
 */
export async function stopLeftovers(
  { client, clock, log }: Context,
  state: BridgeState,
  records: readonly SessionRecord[],
  {
    signal,
    reason,
    limitMs = 5_000,
  }: { readonly signal: AbortSignal; readonly reason: StopReason; readonly limitMs?: number },
): Promise<void> {
  const stop = async ({
    environment_id: environmentId,
    work_id: workId,
    session_id: sessionId,
  }: SessionRecord) => {
    try {
      const params = { env_id: environmentId, work_id: workId };
      await within(clock, limitMs, signal, (ending) =>
        client.bridge.stop({ params, body: { force: true, reason }, signal: ending }),
      );
    } catch (error) {
      if (judgeFailure(error).kind !== 'missing') {
        log.warn({ err: error, workId }, 'work of an earlier bridge could not be stopped yet');
        return;
      }
    }
    state.removeSession(sessionId);
  };
  await Promise.all(records.map(stop));
}
