import { accessSync, constants, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createRedactor, pathsOfThisProcess } from '@sallyport/telemetry';
import { buildBundle, uploadFeedback, type Bundle } from '@sallyport/telemetry/feedback';
import { connect, type Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { confirm } from '../../io/confirm.ts';
import { progressBar } from '../../io/progress.ts';
import { readStdin } from '../../io/stdin.ts';
import type { Output } from '../../io/terminal.ts';
import { collectSources } from './collect.ts';
import { describeBundle } from './describe.ts';
import { sweep } from './sweep.ts';

export interface FeedbackOptions {
  readonly bundle?: string;
  readonly collect?: boolean;
  readonly session: readonly string[];
  readonly file: readonly string[];
  readonly yes?: boolean;
}

export async function feedback(context: Context, options: FeedbackOptions, text: string): Promise<Output> {
  const description = text === '-' ? await readStdin(context, 'the description') : text;
  for (const path of [options.bundle, ...options.file]) requireFile(path);
  const connection = await connect(context);
  if (options.bundle !== undefined)
    return send(context, connection, { description, bundlePath: resolve(options.bundle) });
  const bundle = await makeBundle(context, connection, options);
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
  } finally {
    // Whoever leaves has no use for it.
    if (!isKept || asked.aborted) await rm(bundle.path, { force: true });
  }
}

/** Before anything is sent: a slip in a name must not cost the file. */
function requireFile(path: string | undefined): void {
  if (path === undefined) return;
  const refuse = (code: string, message: string, nextStep: string, cause?: unknown) =>
    new CommandError(code, message, exitCodes.usage, nextStep, { cause });
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw refuse('no_file', `There is no file ${path}.`, 'Name one that exists.');
  if (!found.isFile() && !found.isFIFO())
    throw refuse('no_file', `${path} is no file.`, 'Name files, one by one.');
  try {
    accessSync(path, constants.R_OK);
  } catch (cause) {
    const message = `${path} cannot be read by this account.`;
    throw refuse('unreadable_file', message, 'Make it readable, or leave it out.', cause);
  }
}

async function makeBundle(
  context: Context,
  connection: Connection,
  options: FeedbackOptions,
): Promise<Bundle> {
  const directory = join(context.settings.stateDir, 'feedback');
  await sweep(directory, context.clock.now());
  return buildBundle({
    sources: await collectSources(context, connection, options),
    directory,
    redactor: createRedactor(pathsOfThisProcess()),
    clock: context.clock,
  });
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
  } catch (error) {
    if (!interrupt.asked.aborted)
      terminal.note(
        `The bundle is kept. To send it again: sallyport feedback TEXT --bundle ${upload.bundlePath}`,
      );
    throw error;
  } finally {
    bar.end();
  }
}
