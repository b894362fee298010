import { createBridgeAccountData } from '@sallyport/bridge/server';
import { systemClock, toTimestamp, type AccountData } from '@sallyport/core';
import {
  createBundleFiles,
  createFeedbackAccountData,
  createTelemetryAccountData,
} from '@sallyport/telemetry/server';
import { createOutboxAccountData } from '../passthrough/outbox-account-data.ts';
import { feedbackDirectory } from '../store/embedded/path.ts';
import { accountRecord, findAccount } from './accounts.ts';
import { printJson } from './print.ts';
import { withAdministration, type Administration } from './authorization.ts';
import { confirmByName } from './confirm.ts';
import type { ConfigFlags } from './flags.ts';
import { printDocument } from './json-document.ts';
import { withAnotherAdmin } from './last-admin.ts';

/** `admin user export`: all that is kept of an account, as one JSON document. */
export function exportUser(email: string, flags: ConfigFlags): Promise<void> {
  return withAdministration(flags, async (administration) => {
    const { accountData, audit } = administration.server;
    const account = await findAccount(administration.server, email, flags);
    await audit.record({ action: 'account.export', accountId: account.id });
    const parts = [accountData, ...elsewhere(administration)].map((data) => data.export(account.id));
    await printDocument(
      { exported_at: toTimestamp(systemClock.now()), account: accountRecord(account) },
      Object.assign({}, ...parts) as ReturnType<AccountData['export']>,
    );
  });
}

/** `admin user erase`: for good; after a failure it can be run again, and goes on. */
export function eraseUser(email: string, flags: ConfigFlags & { readonly yes?: boolean }): Promise<void> {
  return withAdministration(flags, async (administration) => {
    const { accountData } = administration.server;
    const account = await findAccount(administration.server, email, flags);
    if (flags.yes !== true)
      await confirmByName({
        name: account.email,
        what: `This erases ${account.email} with its environments, sessions, telemetry and feedback, for good.`,
        kind: 'e-mail address',
      });
    // First nobody can add to what is erased; the account goes last, so that until then its address finds it.
    await withAnotherAdmin(flags, accountData.close(account.id));
    const erased: Record<string, number> = {};
    for (const data of elsewhere(administration)) Object.assign(erased, await data.erase(account.id));
    await accountData.erase(account.id);
    printJson({ id: account.id, email: account.email, erased });
  });
}

/** What the other engines keep. */
function elsewhere({ store, config, server: { accounts } }: Administration): readonly AccountData[] {
  return [
    createBridgeAccountData({ store: store.bridge, accounts, clock: systemClock, config: config.bridge }),
    createTelemetryAccountData(store.telemetry),
    createOutboxAccountData(store.outbox),
    createFeedbackAccountData(store.feedback, createBundleFiles(feedbackDirectory(config))),
  ];
}
