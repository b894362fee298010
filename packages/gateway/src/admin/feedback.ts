import { constants } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { ServiceError, toTimestamp } from '@sallyport/core';
import {
  createBundleFiles,
  type BundleFiles,
  type FeedbackBundle,
  type FeedbackStore,
} from '@sallyport/telemetry/server';
import { feedbackDirectory } from '../store/embedded/path.ts';
import { withStore } from './authorization.ts';
import type { ConfigFlags } from './flags.ts';
import { operatorCommand } from './operator-command.ts';
import { printJson, printList, type Columns, type PrintFlags } from './print.ts';

/** `admin feedback list`: the newest first. */
export async function listFeedback(
  flags: ConfigFlags & PrintFlags & { readonly limit: number },
): Promise<void> {
  const records = await withFeedback(flags, async ({ store, toRecords }) =>
    toRecords(await store.listBundles({ limit: flags.limit })),
  );
  printList(records, columns, flags);
}

const columns: Columns<FeedbackRecord> = {
  header: ['ID', 'RECEIVED', 'ACCOUNT', 'FILES', 'BYTES', 'DESCRIPTION'],
  row: ({ id, created_at, account_id, account_email, entries, bytes, description }) => [
    id,
    created_at,
    account_email ?? account_id,
    String(entries),
    String(bytes),
    description.split('\n', 1)[0]?.slice(0, 80) ?? '',
  ],
  none: 'There is no feedback.',
};

/** `admin feedback get`: the record with where its bundle is, or the bundle itself into a file that is not there yet. */
export async function getFeedback(
  id: string,
  flags: ConfigFlags & { readonly output?: string },
): Promise<void> {
  const { record, path } = await withFeedback(flags, async ({ store, files, toRecords }) => {
    const bundle = await store.findBundle({ id });
    const [found] = await toRecords(bundle ? [bundle] : []);
    return { record: found, path: files.pathOf(id) };
  });
  if (record === undefined)
    throw new ServiceError(
      'not_found',
      `There is no feedback ${id}: see ${operatorCommand(['feedback', 'list'], flags)}.`,
    );
  if (flags.output !== undefined) await copyBundle(path, flags.output);
  printJson({ ...record, bundle_path: flags.output ?? path });
}

async function copyBundle(path: string, output: string): Promise<void> {
  try {
    await copyFile(path, output, constants.COPYFILE_EXCL);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'EEXIST' ? 'is there already' : `cannot be written (${code ?? 'unknown'})`;
    throw new ServiceError('conflict', `${output} ${reason}: give another file with --output.`, {
      cause: error,
    });
  }
}

interface Feedback {
  readonly store: FeedbackStore;
  readonly files: BundleFiles;
  /** As they are printed. */
  readonly toRecords: (bundles: readonly FeedbackBundle[]) => Promise<readonly FeedbackRecord[]>;
}

type FeedbackRecord = ReturnType<typeof feedbackRecord>;

function withFeedback<T>(flags: ConfigFlags, read: (feedback: Feedback) => Promise<T>): Promise<T> {
  return withStore(flags, ({ config, store }) =>
    read({
      store: store.feedback,
      files: createBundleFiles(feedbackDirectory(config)),
      async toRecords(bundles) {
        const accountIds = [...new Set(bundles.map(({ accountId }) => accountId))];
        const known = await store.oauth.reads.accountEmails({ accountIds });
        const emails = new Map(known.map(({ id, email }) => [id, email]));
        return bundles.map((bundle) => feedbackRecord(bundle, emails.get(bundle.accountId) ?? null));
      },
    }),
  );
}

/** `email`: null once the account is there no more. */
function feedbackRecord(bundle: FeedbackBundle, email: string | null) {
  const { id, organizationId, accountId, createdAt, description, fileName, bytes, entries, sha256 } = bundle;
  return {
    id,
    created_at: toTimestamp(createdAt),
    organization_id: organizationId,
    account_id: accountId,
    account_email: email,
    description,
    file_name: fileName,
    bytes,
    entries,
    sha256,
  };
}
