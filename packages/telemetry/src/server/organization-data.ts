import type { OrganizationData } from '@sallyport/core';
import { eraseBundles } from './bundle-erasure.ts';
import type { BundleFiles } from './bundle-files.ts';
import type { FeedbackStore } from './feedback-ports.ts';
import type { TelemetryStore } from './ports.ts';

/** Records that one act deletes: few enough that nobody waits for it. */
const recordsAtOnce = 5000;

/** What telemetry keeps of an organization: its records. A block is of one organization alone, so whole ones go. */
export function createTelemetryOrganizationData(
  store: Pick<TelemetryStore, 'deleteOrganizationRecords'>,
): OrganizationData {
  return {
    async erase(organizationId) {
      for (let telemetry = 0; ;) {
        const { deleted, isDone } = await store.deleteOrganizationRecords({
          organizationId,
          limit: recordsAtOnce,
        });
        telemetry += deleted;
        if (isDone) return { telemetry };
      }
    },
  };
}

/** What feedback keeps of an organization: descriptions, and the bundles beside the store. */
export function createFeedbackOrganizationData(store: FeedbackStore, files: BundleFiles): OrganizationData {
  return {
    erase: (organizationId) =>
      eraseBundles(store, files, (limit) => store.organizationBundles({ organizationId, limit })),
  };
}
