import { constants, existsSync, rmSync } from 'node:fs';
import { copyFile, lstat, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { isDiskFull, whyNotWritten } from '@sallyport/core';
import { makeDirectory } from '@sallyport/core/directory';
import { makeProcessFolder } from '@sallyport/core/process-folder';
import { createBundleFiles } from '@sallyport/telemetry/server';
import { copyStore } from '../store/embedded/copy.ts';
import { embeddedStorePath, feedbackDirectory } from '../store/embedded/path.ts';
import { noStore } from '../store/embedded/store-error.ts';
import { printJson } from './print.ts';
import { configOf } from './config-of.ts';
import { ExplainedError } from './failure.ts';
import type { ConfigFlags } from './flags.ts';

/** `admin backup`: a new data directory with the store of this moment and the bundles of its feedback. */
export async function backUp(directory: string, flags: ConfigFlags): Promise<void> {
  const { config } = configOf(flags);
  const path = embeddedStorePath(config);
  if (!existsSync(path)) throw noStore(path);
  const target = resolve(directory);
  // A link is there though it may lead nowhere.
  if (await lstat(target).catch(() => undefined))
    throw new ExplainedError(`${target} is there already: give a directory that is yet to be made.`);
  const part = begin(target);
  const release = removedAtSignals(part);
  try {
    const copy = { dataDir: part, store: undefined };
    await copyStore(path, embeddedStorePath(copy));
    await flush(embeddedStorePath(copy));
    // After the store: what the copy knows of has come in whole. What came since goes at the first start on the copy.
    const bundles = await copyBundles(feedbackDirectory(config), feedbackDirectory(copy));
    await flush(part);
    const { size } = await stat(embeddedStorePath(copy));
    await rename(part, target);
    await flush(dirname(target));
    printJson({ directory: target, store_bytes: size, feedback_bundles: bundles });
  } catch (error) {
    await rm(part, { recursive: true, force: true });
    if (!isDiskFull(error)) throw error;
    throw new ExplainedError(
      `${target} cannot be written: the disk is full. Make room there, or give a directory on another disk.`,
      { cause: error },
    );
  } finally {
    release();
  }
}

/** A signal that ends the process takes what there is of the backup along. */
function removedAtSignals(part: string): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const onSignal = (signal: NodeJS.Signals) => {
    try {
      rmSync(part, { recursive: true, force: true });
    } finally {
      release();
      process.kill(process.pid, signal);
    }
  };
  const release = () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  for (const signal of signals) process.on(signal, onSignal);
  return release;
}

/** A folder beside the target, which becomes it once it is whole; those of earlier ones that were killed go. */
function begin(target: string): string {
  try {
    makeDirectory(dirname(target));
    return makeProcessFolder(dirname(target), `${basename(target)}.part-`);
  } catch (error) {
    throw new ExplainedError(
      `${target} cannot be made: ${whyNotWritten(error)}. Give a directory that this user may make.`,
      { cause: error },
    );
  }
}

/** Those that are removed meanwhile are left out. */
async function copyBundles(from: string, to: string): Promise<number> {
  const [files, copies] = [createBundleFiles(from), createBundleFiles(to)];
  let copied = 0;
  for (const id of await files.ids()) {
    makeDirectory(to);
    try {
      await copyFile(files.pathOf(id), copies.pathOf(id), constants.COPYFILE_FICLONE);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
      throw error;
    }
    await flush(copies.pathOf(id));
    copied++;
  }
  if (copied > 0) await flush(to);
  return copied;
}

/** Has the disk keep a file, or the names in a directory. */
async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
