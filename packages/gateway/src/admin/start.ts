import { countSignals, isLoopback, systemClock } from '@sallyport/core';
import type { Logger } from 'pino';
import type { LoadedConfig } from '../config/load.ts';
import { createLog } from '../http/log.ts';
import type { Services } from '../services.ts';
import { startGateway } from '../start.ts';
import { configOf } from './config-of.ts';
import type { ConfigFlags } from './flags.ts';
import { operatorCommand, sameUpstreams } from './operator-command.ts';
import { gatewayThere } from './gateway-there.ts';
import { reloading } from './reload.ts';
import { terminalLog } from './terminal-log.ts';

export interface StartFlags extends ConfigFlags {
  readonly printSetup?: boolean;
}

/** `sallyport-gateway start`: serves until the first SIGTERM or SIGINT, then drains; a second one ends at once. */
export async function start(flags: StartFlags): Promise<void> {
  const loaded = configOf(flags);
  const { config } = loaded;
  const log = logOf(loaded);
  const stop = Promise.withResolvers<NodeJS.Signals>();
  const onSignal = countSignals(systemClock, (signal, count) => {
    if (count > 1) process.exit(130);
    stop.resolve(signal);
  });
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);

  const gateway = await startGateway({
    config,
    log,
    flags: sameUpstreams(flags),
    onFatal(error) {
      log.fatal({ err: error }, 'the store has failed');
      process.exit(1);
    },
  }).catch(async (error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw (await gatewayThere(config)) ?? error;
  });
  // Where a person started it, SIGHUP says that the terminal is gone, and ends it as it ends other programs.
  const reload = reloading(gateway, loaded, { read: () => configOf(flags), log });
  if (!process.stdin.isTTY && !process.stderr.isTTY) process.on('SIGHUP', () => void reload());
  // Scripts wait for this line.
  process.stdout.write(`listening on ${gateway.url}\n`);
  if (!isLoopback(config.host)) log.warn({ host: config.host }, 'listening beyond this machine');
  await tellHowToSetUp(gateway.services, flags, log);

  const signal = await stop.promise;
  log.info({ signal }, 'draining');
  await gateway.close();
  log.info('stopped');
  process.exit(0);
}

/** JSON for programs. People get lines, and unless they ask for more only what they should know of. */
function logOf({ config, settings }: LoadedConfig): Logger {
  if (!process.stderr.isTTY) return createLog(config.logLevel);
  const isDefault = settings.some(({ key, origin }) => key === 'logLevel' && origin === 'default');
  return createLog(isDefault ? 'warn' : config.logLevel, terminalLog(process.stderr));
}

/** A link is as good as a password: where output may be kept, one is made only when asked for. */
async function tellHowToSetUp(services: Services, flags: StartFlags, log: Logger): Promise<void> {
  const owner = await services.ownerToSetUp();
  if (owner === undefined) return;
  if (flags.printSetup === true || process.stdout.isTTY)
    process.stdout.write(`\nSet the owner's password: ${(await services.setupLink()) ?? ''}\n`);
  else
    log.info(
      `${owner} has no password yet: start with --print-setup for a link to set it, or run ${operatorCommand(['user', 'password', owner], flags)}.`,
    );
}
