import type { BundleFiles } from './bundle-files.ts';
import type { FeedbackBundle, FeedbackStore } from './feedback-ports.ts';

export const bundlesAtOnce = 100;

/** Deletes the bundles that `read` gives, from the first ones on until there are none. */
export async function eraseBundles(
  store: Pick<FeedbackStore, 'deleteBundle'>,
  files: Pick<BundleFiles, 'remove'>,
  read: (limit: number) => Promise<readonly FeedbackBundle[]>,
): Promise<{ readonly feedback: number }> {
  for (let feedback = 0; ;) {
    const page = await read(bundlesAtOnce);
    // The file first: while its record stands, the erasure can be repeated.
    await Promise.all(page.map(({ id }) => files.remove(id)));
    await Promise.all(page.map(({ id }) => store.deleteBundle({ id })));
    feedback += page.length;
    if (page.length < bundlesAtOnce) return { feedback };
  }
}
