import { constants } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { ServiceError, toTimestamp } from '@sallyport/core';
import {
  createBundleFiles,
  type BundleFiles,
  type FeedbackBundle,
  type FeedbackStore,
} from '@sallyport/telemetry/server';
import { runningGateway } from '../store/embedded/lock.ts';
import { embeddedStorePath, feedbackDirectory } from '../store/embedded/path.ts';
import { openEmbeddedStore } from '../store/embedded/store.ts';
import { configOf } from './config-of.ts';
import type { ConfigFlags } from './flags.ts';
import { printJson, printList, type Columns, type PrintFlags } from './print.ts';

/** `admin feedback list`: the newest first. */
export async function listFeedback(
  flags: ConfigFlags & PrintFlags & { readonly limit: number },
): Promise<void> {
  const bundles = await withFeedback(flags, ({ store }) => store.listBundles({ limit: flags.limit }));
  printList(bundles.map(feedbackRecord), columns, flags);
}

const columns: Columns<ReturnType<typeof feedbackRecord>> = {
  header: ['ID', 'RECEIVED', 'ACCOUNT', 'FILES', 'BYTES', 'DESCRIPTION'],
  row: ({ id, created_at, account_id, entries, bytes, description }) => [
    id,
    created_at,
    account_id,
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
  const { bundle, path } = await withFeedback(flags, async ({ store, files }) => ({
    bundle: await store.findBundle({ id }),
    path: files.pathOf(id),
  }));
  if (bundle === undefined)
    throw new ServiceError(
      'not_found',
      `There is no feedback ${id}: see \`sallyport-gateway admin feedback list\`.`,
    );
  if (flags.output !== undefined) await copyBundle(path, flags.output);
  printJson({ ...feedbackRecord(bundle), bundle_path: flags.output ?? path });
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

async function withFeedback<T>(
  flags: ConfigFlags,
  read: (feedback: { readonly store: FeedbackStore; readonly files: BundleFiles }) => Promise<T>,
): Promise<T> {
  const { config } = configOf(flags);
  const path = embeddedStorePath(config);
  // The schema under a running gateway is the gateway's.
  const store = await openEmbeddedStore({ path, migrate: runningGateway(path) === undefined });
  try {
    return await read({ store: store.feedback, files: createBundleFiles(feedbackDirectory(config)) });
  } finally {
    await store.close();
  }
}

function feedbackRecord(bundle: FeedbackBundle) {
  const { id, organizationId, accountId, createdAt, description, fileName, bytes, entries, sha256 } = bundle;
  return {
    id,
    created_at: toTimestamp(createdAt),
    organization_id: organizationId,
    account_id: accountId,
    description,
    file_name: fileName,
    bytes,
    entries,
    sha256,
  };
}
