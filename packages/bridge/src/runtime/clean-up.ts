import type { Context } from './context.ts';
import { judgeFailure } from './failure.ts';
import { isAlive } from './process-identity.ts';
import { signalGroup, sweep } from './process-tree.ts';
import type { BridgeState, SessionRecord } from './state.ts';
import { within } from './within.ts';

/**
 * Ends the processes that an earlier bridge on these files left behind: it was killed, lifeline and all. Goes by the
 * process's identity and by what it carries in its environment, never by a pid or a parent alone.
 */
export async function killLeftovers(state: BridgeState): Promise<readonly SessionRecord[]> {
  const records = state.sessions;
  for (const { process, session_id: sessionId, work_id: workId } of records) {
    if (process && isAlive(process)) signalGroup(process.pid, 'SIGKILL');
    await sweep({ sessionId, workId });
  }
  return records;
}

/**
 * Tells the service that their work is over, within `limitMs`, while `signal` lets it. What it cannot be told now is kept
 * for the next start.
 */
export async function stopLeftovers(
  { client, clock, log }: Context,
  state: BridgeState,
  records: readonly SessionRecord[],
  { signal, limitMs = 5_000 }: { readonly signal: AbortSignal; readonly limitMs?: number },
): Promise<void> {
  const stop = async ({
    environment_id: environmentId,
    work_id: workId,
    session_id: sessionId,
  }: SessionRecord) => {
    try {
      const params = { env_id: environmentId, work_id: workId };
      await within(clock, limitMs, signal, (ending) =>
        client.bridge.stop({ params, body: { force: true }, signal: ending }),
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
