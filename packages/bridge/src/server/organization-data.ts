import type { Clock, OrganizationData } from '@sallyport/core';
import { workTerms, type BridgeConfig } from './config.ts';
import { eraseAll, pageItems } from './erase-all.ts';
import type { BridgeStore } from './ports.ts';

/** What the bridge keeps of an organization: its environments, whose work is stopped, and its sessions with their events. */
export function createBridgeOrganizationData({
  store: { acts, reads },
  clock,
  config,
}: {
  readonly store: BridgeStore;
  readonly clock: Clock;
  readonly config: BridgeConfig;
}): OrganizationData {
  const terms = workTerms(config);
  return {
    async erase(organizationId) {
      const page = { organizationId, limit: pageItems };
      const environments = await eraseAll(
        () => reads.organizationEnvironments(page),
        (environmentId) => acts.deleteEnvironment({ environmentId, now: clock.now(), terms }),
      );
      const sessions = await eraseAll(
        () => reads.sessions({ ...page, accountId: undefined, before: undefined }),
        (sessionId) => acts.deleteSession({ sessionId }),
      );
      return { environments, sessions };
    },
  };
}
