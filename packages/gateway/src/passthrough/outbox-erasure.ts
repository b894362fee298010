import type { OrganizationData } from '@sallyport/core';
import type { OfAccount, OfOrganization, OutboxActs } from './outbox-ports.ts';

type Erasing = Pick<OutboxActs, 'eraseOf'>;

/** What of an organization's telemetry waits for an upstream, and what that has refused. */
export function createOutboxOrganizationData(store: Erasing): OrganizationData {
  return { erase: (organizationId) => eraseOutbox(store, { organizationId }) };
}

/** Gives how many requests there were. */
export async function eraseOutbox(
  store: Erasing,
  of: Omit<OfAccount, 'among'> | Omit<OfOrganization, 'among'>,
): Promise<{ readonly telemetry_waiting: number; readonly telemetry_dead_letters: number }> {
  // In this order: what waits may be refused meanwhile.
  const waiting = await eraseAmong('waiting');
  return { telemetry_waiting: waiting, telemetry_dead_letters: await eraseAmong('dead_letters') };

  async function eraseAmong(among: OfAccount['among']): Promise<number> {
    for (let all = 0; ;) {
      const { erased, done } = await store.eraseOf({ ...of, among });
      all += erased;
      if (done) return all;
    }
  }
}
