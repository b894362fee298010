import type { Context } from './context.ts';
import { toError } from './failure.ts';
import { within } from './within.ts';

/** The longest that the service is told of a stop before the process is. */
const stopCallMs = 1_000;

/** Work that ends because its bridge does. */
export interface EndingWork {
  readonly environmentId: string;
  readonly workId: string;
}

const reason = 'bridge_stopped';

/** Tells the service that the work is to end, not for long; gives whether it heard. `force`: it is over. */
export function askForEnd(
  { client, clock, killed }: Context,
  { environmentId, workId }: EndingWork,
  force: boolean,
): Promise<boolean> {
  const params = { env_id: environmentId, work_id: workId };
  return within(clock, stopCallMs, killed, (signal) =>
    client.bridge.stop({ params, body: { force, reason }, signal }),
  ).then(
    () => true,
    () => false,
  );
}

/** Asks the service to take the work for over, as the worker of that token; gives whether it heard before `signal` aborts. */
export function giveUp(
  { client, log }: Context,
  { environmentId, workId }: EndingWork,
  workerToken: string | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const params = { env_id: environmentId, work_id: workId };
  const headers = workerToken === undefined ? {} : { 'x-worker-token': workerToken };
  return client.bridge.stop({ headers, params, body: { force: true, reason }, signal }).then(
    () => true,
    (error: unknown) => {
      log.debug({ err: toError(error), workId }, 'its end could not be told');
      return false;
    },
  );
}
