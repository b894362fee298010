import { createBridgeOrganizationData } from '@sallyport/bridge/server';
import { systemClock, type OrganizationData } from '@sallyport/core';
import {
  createBundleFiles,
  createFeedbackOrganizationData,
  createTelemetryOrganizationData,
} from '@sallyport/telemetry/server';
import { createOutboxOrganizationData } from '../passthrough/outbox-erasure.ts';
import { feedbackDirectory } from '../store/embedded/path.ts';
import { printJson } from './print.ts';
import { withAdministration, type Administration } from './authorization.ts';
import { confirmByName } from './confirm.ts';
import type { ConfigFlags } from './flags.ts';
import { organizationNamed } from './organization-named.ts';

/** `admin org delete`: for good; after a failure it can be run again, and goes on. */
export function deleteOrganization(
  given: string,
  flags: ConfigFlags & { readonly yes?: boolean },
): Promise<void> {
  return withAdministration(flags, async (administration) => {
    const { server } = administration;
    const { id, name } = await organizationNamed(server, given, flags);
    if (flags.yes !== true)
      await confirmByName({
        name,
        what: `This deletes ${name} with its environments, sessions, telemetry, feedback and settings, and ends its members' logins, keys and devices, for good.`,
        kind: 'name of the organization',
      });
    // As with an account: first nobody can add to what is erased; the organization goes last, so that until then it is found.
    await server.organizationData.close(id);
    const erased: Record<string, number> = {};
    for (const data of elsewhere(administration)) Object.assign(erased, await data.erase(id));
    await server.organizationData.erase(id);
    printJson({ id, name, deleted: true, erased });
  });
}

/** What the other engines keep. */
function elsewhere({ store, config }: Administration): readonly OrganizationData[] {
  return [
    createBridgeOrganizationData({ store: store.bridge, clock: systemClock, config: config.bridge }),
    createTelemetryOrganizationData(store.telemetry),
    createOutboxOrganizationData(store.outbox),
    createFeedbackOrganizationData(store.feedback, createBundleFiles(feedbackDirectory(config))),
  ];
}
