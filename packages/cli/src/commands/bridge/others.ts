import { ServiceError } from '@sallyport/core';
import { pages } from '@sallyport/core/client';
import { contract } from '@sallyport/core/contract';
import type { Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';

/** Says who else may run sessions on this bridge, if anybody. A bridge works on where that cannot be found out. */
export async function tellOfOthers(
  { terminal }: Pick<Context, 'terminal'>,
  connection: Pick<Connection, 'clientOptions'>,
  signal: AbortSignal,
): Promise<void> {
  if (terminal.json || !(await hasOthers(connection, signal).catch(() => false))) return;
  terminal.note(
    'Other members of the organization may run sessions here, too, as this account of the machine.',
  );
}

/** Whether somebody else in the organization may create sessions. */
async function hasOthers(
  { clientOptions }: Pick<Connection, 'clientOptions'>,
  signal: AbortSignal,
): Promise<boolean> {
  let mayRun = 0;
  try {
    for await (const { body } of pages(clientOptions, contract.admin.listPeople, {}, { signal })) {
      mayRun += body.filter(({ role }) => role !== 'viewer').length;
      if (mayRun > 1) return true;
    }
  } catch (error) {
    // Only admins see who is there; for whoever is none there is at least one.
    if (error instanceof ServiceError && error.code === 'forbidden') return true;
    throw error;
  }
  return false;
}
