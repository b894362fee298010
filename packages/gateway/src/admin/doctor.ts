import { existsSync } from 'node:fs';
import { access, constants, mkdtemp, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { describeHolder, runningGateway } from '../store/embedded/lock.ts';
import { embeddedStorePath } from '../store/embedded/path.ts';
import { StoreError } from '../store/embedded/store-error.ts';
import { openWriter } from '../store/embedded/writer.ts';
import { configOf } from './config-of.ts';
import { checkExport } from './doctor-export.ts';
import { adviceOn, checkUpstreams } from './doctor-upstreams.ts';
import { ExplainedError } from './failure.ts';
import { createFindings } from './findings.ts';
import type { ConfigFlags } from './flags.ts';
import { sameUpstreams } from './operator-command.ts';
import { printJson } from './print.ts';

/** `sallyport-gateway doctor`: what would stop a start. Exit code 1 if anything would. Leaves nothing behind. */
export async function doctor(flags: ConfigFlags & { readonly json?: boolean }): Promise<void> {
  const { findings, check } = createFindings();
  const loaded = await check(
    'configuration',
    () => configOf(flags),
    ({ settings }) => differing(settings.filter(({ origin }) => origin !== 'default').length),
  );
  if (loaded) {
    const { config } = loaded;
    const path = embeddedStorePath(config);
    const directory = await check(
      'data directory',
      async () => {
        await checkWritable(dirname(path));
        return { running: runningGateway(path) };
      },
      ({ running }) =>
        `${dirname(path)} is writable${running ? `; a gateway runs on it (${describeHolder(running)})` : ''}`,
    );
    if (directory !== undefined)
      await check(
        'store',
        () => checkStore(path, directory.running !== undefined),
        (finding) => `${path} ${finding}`,
      );
    const advice = adviceOn(config);
    if (advice !== undefined) findings.push({ check: 'areas', status: 'warn', says: advice });
    await checkUpstreams(config, check, sameUpstreams(flags));
    await checkExport(config, check);
  }
  const ok = findings.every(({ status }) => status !== 'fail');
  for (const { check: name, status, says } of flags.json === true ? [] : findings)
    process.stdout.write(`${status.padEnd(4)}  ${name}: ${says}\n`);
  if (flags.json === true) printJson({ ok, findings });
  if (!ok) process.exitCode = 1;
}

function differing(count: number): string {
  return count === 1 ? '1 setting differs from the default' : `${count} settings differ from the defaults`;
}

/** Rejects where the directory is not there, nor can be made, or is not ours to write in. */
async function checkWritable(directory: string): Promise<void> {
  try {
    // The slash: a file is not good enough.
    await access(`${resolve(directory)}/`, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return checkWritable(dirname(resolve(directory)));
  }
  // Rights are not all: on a read-only disk, or in /proc, nobody makes anything. What is made to see is gone at once.
  const made = await mkdtemp(join(directory, '.doctor-')).catch((cause: unknown) => {
    throw new ExplainedError(
      `Nothing can be made in ${resolve(directory)} (${(cause as NodeJS.ErrnoException).code}): choose another directory with --data-dir.`,
      { cause },
    );
  });
  await rmdir(made);
}

/** A start makes what is missing and brings what is older up to date; a gateway that runs has had its start. */
async function checkStore(path: string, isRunning: boolean): Promise<string> {
  if (!existsSync(path)) {
    await checkWritable(dirname(path));
    return 'is made at the first start';
  }
  try {
    await (await openWriter({ path, migrate: false, check: 'whole' })).close();
    return 'opens, and is sound';
  } catch (error) {
    if (isRunning || !(error instanceof StoreError) || error.code !== 'older') throw error;
    return 'is of an older release: the next start brings it up to date';
  }
}
