import type { Connection } from '../connect.ts';
import type { Context } from '../context.ts';
import type { OfAccount } from './account-name.ts';
import { ownAccount } from './session/started-by.ts';

/** Whether one of them is somebody else's: whoever works alone need not be told on every line. */
export async function hasOthers(
  context: Context,
  connection: Connection,
  records: readonly OfAccount[],
): Promise<boolean> {
  const ids = new Set(records.flatMap(({ account }) => account?.id ?? []));
  if (ids.size !== 1) return ids.size > 1;
  // Who cannot be told apart may be anybody: the list itself is there.
  const own = await ownAccount(context, connection).catch(() => undefined);
  return own === undefined || !ids.has(own);
}
