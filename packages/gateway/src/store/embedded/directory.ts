import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import { StoreError } from './store-error.ts';

/** Makes a directory that only its owner may enter, and those above it that are missing. Throws a `StoreError`. */
export function makeDirectory(directory: string): void {
  try {
    make(directory);
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

/** Not `recursive`: where a file system lets nobody make anything (/proc), Node.js tries for ever. */
function make(directory: string): void {
  if (isDirectory(directory)) return;
  if (dirname(directory) !== directory) make(dirname(directory));
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another process was faster.
    if (!isDirectory(directory)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
