import { existsSync } from 'node:fs';
import { access, constants, mkdtemp, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Doubt } from '../passthrough/probe.ts';
import { describeHolder, runningGateway } from '../store/embedded/lock.ts';
import { embeddedStorePath } from '../store/embedded/path.ts';
import { StoreError } from '../store/embedded/store-error.ts';
import { openWriter } from '../store/embedded/writer.ts';
import { configOf } from './config-of.ts';
import { adviceOn, checkUpstreams } from './doctor-upstreams.ts';
import { describeFailure, ExplainedError } from './failure.ts';
import { sameUpstreams, type ConfigFlags } from './flags.ts';

/** As `sallyport doctor` tells it; what to do about a failure is the end of what it says. */
interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly says: string;
}

/** Asks one thing and notes what was found, or what may be wrong. `undefined`: it failed. */
export type Check = <T>(
  name: string,
  run: () => T | Promise<T>,
  says: (value: T) => string | Doubt,
) => Promise<T | undefined>;

/** `sallyport-gateway doctor`: what would stop a start. Exit code 1 if anything would. Leaves nothing behind. */
export async function doctor(flags: ConfigFlags & { readonly json?: boolean }): Promise<void> {
  const findings: Finding[] = [];
  const check: Check = async (name, run, says) => {
    try {
      const value = await run();
      const said = says(value);
      const isDoubt = typeof said === 'object';
      findings.push({ check: name, status: isDoubt ? 'warn' : 'ok', says: isDoubt ? said.warns : said });
      return value;
    } catch (error) {
      findings.push({ check: name, status: 'fail', says: describeFailure(error).message });
      return undefined;
    }
  };
  const loaded = await check(
    'configuration',
    () => configOf(flags),
    ({ settings }) =>
      `${settings.filter(({ origin }) => origin !== 'default').length} settings differ from the defaults`,
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
  }
  const ok = findings.every(({ status }) => status !== 'fail');
  for (const { check: name, status, says } of flags.json === true ? [] : findings)
    process.stdout.write(`${status.padEnd(4)}  ${name}: ${says}\n`);
  if (flags.json === true) process.stdout.write(`${JSON.stringify({ ok, findings }, null, 2)}\n`);
  if (!ok) process.exitCode = 1;
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
