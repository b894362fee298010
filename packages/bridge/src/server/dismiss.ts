import { wake, type Context } from './context.ts';
import { environmentDeleted } from './environment-errors.ts';
import type { Touched } from './acts.ts';
import type { PollQueue } from './queue.ts';
import { leaveTopic } from './topics.ts';

/** After an environment's registration was removed: its bridge's polls and streams end, and its workers'. */
export function dismissBridge(
  context: Context,
  queue: PollQueue,
  environmentId: string,
  stopped: readonly Touched[],
): void {
  context.presence.forget(environmentId);
  for (const work of stopped) wake(context, work);
  queue.refuse(environmentId, environmentDeleted());
  context.wakeups.notify(leaveTopic(environmentId));
}
