import { getSystemErrorMessage } from 'node:util';
import { makeDirectory } from '@sallyport/core/directory';
import { StoreError } from './store-error.ts';

/** Makes the directory of a store, for its owner alone. Throws a `StoreError`. */
export function makeStoreDirectory(directory: string): void {
  try {
    makeDirectory(directory);
  } catch (error) {
    const { errno } = error as NodeJS.ErrnoException;
    const reason = errno === undefined ? String(error) : getSystemErrorMessage(errno);
    throw new StoreError(
      'cannot_open',
      `The directory ${directory} cannot be made (${reason}): give another one with --data-dir, or a file elsewhere with --store.`,
      { cause: error },
    );
  }
}
