import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a directory that only its owner may enter, and those above it that are missing. Throws Node's error with the system's
 * own reason.
 *
 * Not `recursive`: where a file system lets nobody make anything (/proc), Node.js tries for ever, and on a read-only one it
 * answers ENOENT.
 */
export function makeDirectory(directory: string): void {
  if (isDirectory(directory)) return;
  if (dirname(directory) !== directory) makeDirectory(dirname(directory));
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
