import { accessSync, constants, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { reasonOf, shellWord } from '@sallyport/core';
import { createRedactor, pathsOfThisProcess } from '@sallyport/telemetry';
import {
  buildBundle,
  checkBundle,
  checkDescription,
  uploadFeedback,
  type Bundle,
} from '@sallyport/telemetry/feedback';
import { connect, type Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { confirm } from '../../io/confirm.ts';
import { progressBar } from '../../io/progress.ts';
import type { Output } from '../../io/terminal.ts';
import { textArgument } from '../text-argument.ts';
import { collectSources, type CollectOptions } from './collect.ts';
import { describeBundle } from './describe.ts';
import { openFolder } from './folder.ts';

export interface FeedbackOptions extends CollectOptions {
  readonly bundle?: string;
  readonly yes?: boolean;
}

export async function feedback(
  context: Context,
  options: FeedbackOptions,
  ...words: string[]
): Promise<Output> {
  const nextStep = 'Say what it is about: sallyport feedback "..."';
  const description = await textArgument(context, words, { what: 'description', nextStep });
  checkDescription(description);
  for (const path of options.file) requireFile(path);
  if (options.bundle !== undefined) await requireBundle(options.bundle);
  const connection = await connect(context);
  if (options.bundle !== undefined)
    return send(context, connection, { description, bundlePath: resolve(options.bundle) });
  const { bundle, made } = await makeBundle(context, connection, options);
  const { asked } = context.interrupt;
  let isKept = false;
  try {
    asked.throwIfAborted();
    context.terminal.note(describeBundle(bundle));
    if (options.yes !== true) await confirm(context, `Send this to ${context.settings.baseUrl}?`);
    isKept = true;
    const output = await send(context, connection, { description, bundlePath: bundle.path });
    isKept = false;
    return output;
  } catch (error) {
    if (isKept && !asked.aborted)
      context.terminal.note(
        `The bundle is kept. To send it again: sallyport feedback TEXT --bundle ${shellWord(bundle.path)}`,
      );
    throw error;
  } finally {
    // Whoever leaves has no use for it.
    if (!isKept || asked.aborted) await rm(made, { recursive: true, force: true });
  }
}

/** Before anything is sent: a slip in a name must not cost the file. */
function requireFile(path: string): void {
  const refuse = (code: string, message: string, nextStep: string, cause?: unknown) =>
    new CommandError(code, message, exitCodes.usage, nextStep, { cause });
  const unreadable = (why: string, cause: unknown) =>
    refuse('unreadable_file', `${path} cannot be read${why}.`, 'Make it readable, or leave it out.', cause);
  let found;
  try {
    found = statSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    throw unreadable(`: ${reasonOf(cause)}`, cause);
  }
  if (!found) throw refuse('no_file', `There is no file ${path}.`, 'Name one that exists.');
  if (!found.isFile() && !found.isFIFO())
    throw refuse('no_file', `${path} is no file.`, 'Name files, one by one.');
  try {
    accessSync(path, constants.R_OK);
  } catch (cause) {
    throw unreadable(' by this account', cause);
  }
}

/** The same of a ZIP; and it may have to be sent twice, so it is no pipe. */
async function requireBundle(path: string): Promise<void> {
  requireFile(path);
  if (statSync(path).isFile()) return checkBundle(path);
  throw new CommandError(
    'no_file',
    `${path} is a pipe, which is read but once.`,
    exitCodes.usage,
    'Write the ZIP to a file, and name that.',
  );
}

/** `made`: what is to be removed once nobody needs the bundle. */
async function makeBundle(
  context: Context,
  connection: Connection,
  options: FeedbackOptions,
): Promise<{ readonly bundle: Bundle; readonly made: string }> {
  const sources = await collectSources(context, connection, options);
  const { directory, isTemporary } = await openFolder(context.settings.stateDir, context.clock.now());
  try {
    const bundle = await buildBundle({
      sources,
      directory,
      redactor: createRedactor(pathsOfThisProcess()),
      clock: context.clock,
      signal: context.interrupt.asked,
    });
    return { bundle, made: isTemporary ? directory : bundle.path };
  } catch (error) {
    if (isTemporary) await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

async function send(
  context: Context,
  { clientOptions }: Connection,
  upload: { readonly description: string; readonly bundlePath: string },
): Promise<Output> {
  const { terminal, interrupt } = context;
  const bar = progressBar(terminal, 'Sending');
  try {
    const { feedbackId } = await uploadFeedback(clientOptions, {
      ...upload,
      signal: interrupt.asked,
      onProgress: (progress) => bar.show(progress),
    });
    return { json: { feedback_id: feedbackId }, human: `Sent. Its number is ${feedbackId}.` };
  } finally {
    bar.end();
  }
}
