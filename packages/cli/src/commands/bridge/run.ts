import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { BridgeRuntime } from '@sallyport/bridge';
import { ServiceError } from '@sallyport/core';
import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { advising } from '../../io/next-step.ts';
import { version } from '../../version.ts';
import { environmentNamed } from '../environment-named.ts';
import { orNearest } from '../unknown-environment.ts';
import { deviceTokens } from './device-tokens.ts';
import { neededCommand } from './needed-command.ts';
import { tellOfOthers } from './others.ts';
import { requireEnvironment } from './require-environment.ts';
import type { BridgeRunOptions } from './run-options.ts';
import { watcher } from './watcher.ts';

export interface Options extends BridgeRunOptions {
  readonly once?: boolean;
  readonly remove?: boolean;
}

export async function bridgeRun(context: Context, options: Options): Promise<number> {
  const run = neededCommand(options.exec, 'sallyport bridge run');
  const { terminal, interrupt } = context;
  const directory = resolve(options.dir);
  const connection = await connect(context);
  const environmentId =
    options.env === undefined ? undefined : await environmentNamed(connection, options.env, interrupt.asked);
  if (environmentId !== undefined) {
    const required = requireEnvironment(connection, environmentId, interrupt.asked);
    await orNearest(connection, environmentId, interrupt.asked, required);
  }
  const name = options.name ?? hostname();
  const watch = watcher(context);
  const over = new AbortController();
  const deviceToken = deviceTokens(context, connection, name);
  let isTold = false;
  const runtime = new BridgeRuntime({
    ...connection.clientOptions,
    tokens: connection.tokens,
    deviceToken,
    runnerVersion: version,
    directory,
    name,
    ...(environmentId !== undefined && { environmentId }),
    run,
    maxSessions: options.maxSessions,
    stateDir: context.settings.stateDir,
    once: options.once === true,
    remove: options.remove === true,
    interactive: options.interactive === true,
    envPass: options.envPass ?? [],
    worktrees: options.worktrees,
    changes: options.changes,
    ...(options.tag.length > 0 && { metadata: { tags: options.tag } }),
    ...(options.onEnd !== undefined && { onEnd: options.onEnd }),
    clock: context.clock,
    random: context.random,
    ids: context.ids,
    reporter: connection.reporter,
    on(event) {
      watch(event);
      if (event.type !== 'registered' || isTold) return;
      isTold = true;
      void tellOfOthers(context, connection, over.signal);
    },
  });
  interrupt.insisted.addEventListener('abort', () => runtime.kill(), { once: true });
  const trustAnew = trustingAnew(context);
  const running = runtime.run(interrupt.asked).catch(async (error: unknown) => {
    if (error instanceof ServiceError && error.code === 'device_revoked') await deviceToken.revoked();
    throw error;
  });
  const result = await advising(running, {
    device_revoked: trustAnew,
    conflict: 'From elsewhere: `sallyport bridge stop` ends it, `sallyport bridge status` shows it.',
  }).finally(() => over.abort());
  if (result.killed) return exitCodes.interrupted;
  if (result.reason === 'device_revoked') {
    await deviceToken.revoked();
    throw new CommandError(
      result.reason,
      'This device was revoked: the service trusts it no more. The bridge has ended, and its sessions with it.',
      exitCodes.notLoggedIn,
      trustAnew,
    );
  }
  if (result.reason === 'environment_deleted')
    terminal.note('The environment was removed from the service; the bridge ends.');
  return exitCodes.done;
}

/** For a token of the environment, which has no stored login, the next start trusts another device by itself. */
function trustingAnew({ settings }: Context): string {
  return settings.token === undefined
    ? 'If it is to be trusted again: `sallyport device trust`, then start the bridge again.'
    : 'If it is to be trusted again, start the bridge again.';
}
