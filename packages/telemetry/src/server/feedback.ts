import { createHash } from 'node:crypto';
import { ServiceError, type Clock, type Ids, type Log } from '@sallyport/core';
import { FeedbackForm } from '@sallyport/core/contract';
import type { BundleFiles, IncomingBundle } from './bundle-files.ts';
import type { Sender } from './engine.ts';
import type { FeedbackStore } from './feedback-ports.ts';
import type { Organizations } from './ports.ts';

export interface FeedbackEngineOptions {
  readonly store: FeedbackStore;
  readonly files: BundleFiles;
  readonly organizations: Organizations;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

export interface FeedbackEngine {
  /** Throws `zdr_org` (403) where nothing that comes from the organization may be kept. */
  checkRetention(organizationId: string): Promise<void>;
  /** Begins to take a bundle. Throws `temporarily_unavailable` (429) while the account has two on the way. */
  receive(sender: Sender): Promise<BundleReceipt>;
  /** Removes what a crash left: called once, before any bundle comes in. */
  start(): Promise<void>;
}

/** A bundle on its way in: ends with `accept` or `discard`. */
export interface BundleReceipt {
  /** Settles when it is written, so that a sender is not read faster than the disk. */
  write(chunk: Uint8Array): Promise<void>;
  /** Checks and keeps it. Throws `invalid_request` (400) with all that is wrong, and keeps nothing. */
  accept(form: {
    readonly description: string;
    readonly fileName: string;
  }): Promise<{ readonly feedbackId: string }>;
  /** Idempotent; nothing after `accept`. */
  discard(): Promise<void>;
}

const maxUploadsOfAccount = 2;
const busyRetryMs = 10_000;

export function createFeedbackEngine(options: FeedbackEngineOptions): FeedbackEngine {
  const { store, files, organizations, clock, ids, log } = options;
  const uploads = new Map<string, number>();

  function count(accountId: string, change: 1 | -1): void {
    const running = (uploads.get(accountId) ?? 0) + change;
    if (running === 0) uploads.delete(accountId);
    else uploads.set(accountId, running);
  }

  return {
    async checkRetention(organizationId) {
      if (await organizations.isZeroDataRetention(organizationId))
        throw new ServiceError('zdr_org', 'Your organization keeps no data, so it takes no feedback.');
    },

    async receive(sender) {
      const { accountId } = sender;
      if ((uploads.get(accountId) ?? 0) >= maxUploadsOfAccount)
        throw new ServiceError(
          'temporarily_unavailable',
          `Your account has ${maxUploadsOfAccount} uploads on the way: try again when one has ended.`,
          { retryAfterMs: busyRetryMs },
        );
      count(accountId, 1);
      const id = ids.next('fb');
      let file: IncomingBundle;
      try {
        file = await files.create(id);
      } catch (error) {
        count(accountId, -1);
        throw storeFailure(error);
      }
      const hash = createHash('sha256');
      let bytes = 0;
      let ended: Promise<void> | undefined;
      const discard = () => (ended ??= file.discard().finally(() => count(accountId, -1)));

      return {
        async write(chunk) {
          hash.update(chunk);
          bytes += chunk.length;
          try {
            await file.handle.writeFile(chunk);
          } catch (error) {
            throw storeFailure(error);
          }
        },
        async accept({ description, fileName }) {
          checkDescription(description);
          // Loaded with the first bundle: a gateway that never gets one starts without it.
          const { checkZip } = await import('./zip-check.ts');
          const { entries } = await checkZip(file.path);
          await file.keep().catch((error: unknown) => {
            throw storeFailure(error);
          });
          const record = { id, description, fileName, bytes, entries, sha256: hash.digest('hex') };
          try {
            const { organizationId } = sender;
            await store.recordBundle({ ...record, accountId, organizationId, createdAt: clock.now() });
          } catch (error) {
            await files.remove(id);
            throw error;
          }
          ended = Promise.resolve();
          count(accountId, -1);
          log.info({ feedbackId: id, accountId, bytes, entries }, 'feedback received');
          return { feedbackId: id };
        },
        discard,
      };
    },

    start: () => files.sweep(async (id) => (await store.findBundle({ id })) !== undefined),
  };
}

function checkDescription(description: string): void {
  const message = FeedbackForm.shape.description.safeParse(description).error?.issues[0]?.message;
  if (message !== undefined)
    throw new ServiceError('invalid_request', `The description ${message}.`, {
      issues: [{ path: 'description', message }],
    });
}

/** A full disk is no fault of the gateway's program, nor of the sender. */
function storeFailure(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOSPC' && code !== 'EDQUOT' && code !== 'EROFS') return error;
  return new ServiceError('store_unavailable', 'There is no room for the bundle.', {
    retryAfterMs: 60_000,
    cause: error,
  });
}
